//! The kinds of faults: changes of the manifest of a pipeline.

use super::edits::{
    actions, changed, evaluation, evaluation_mut, exchange, exchange_keys, exchange_over_a_run, has, is_of_norm,
    is_tensor, is_value, modules, of_piece, pairs, piece, ports, received, run, run_once, sent, transfers, without,
};
use super::halves::{another_half, exchange_between_halves, of_weights, weights_first, weights_late};
use halite_bundle::{Action, Manifest, ModuleRole, Port, PortRole};

/// A kind of fault.
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// The manifests with such a fault, one for each place.
    pub(super) make: fn(&Manifest) -> Vec<Manifest>,
    /// The reason why all is computed the same, where it is.
    pub(super) same: Option<&'static str>,
}

const fn wrong(name: &'static str, make: fn(&Manifest) -> Vec<Manifest>) -> Kind {
    Kind { name, make, same: None }
}

const fn same(name: &'static str, why: &'static str, make: fn(&Manifest) -> Vec<Manifest>) -> Kind {
    Kind { name, make, same: Some(why) }
}

pub(super) const KINDS: &[Kind] = &[
    wrong("send missing", |m| actions(m, |m, s, at| sent(&m.schedule[s][at]).map(|_| _ = m.schedule[s].remove(at)))),
    wrong("receive missing", |m| {
        actions(m, |m, s, at| received(&m.schedule[s][at]).map(|_| _ = m.schedule[s].remove(at)))
    }),
    wrong("send and receive of a piece missing", |m| actions(m, drop_pair)),
    wrong("send doubled", |m| actions(m, |m, s, at| sent(&m.schedule[s][at]).map(|_| double(m, s, at)))),
    wrong("receive doubled", |m| actions(m, |m, s, at| received(&m.schedule[s][at]).map(|_| double(m, s, at)))),
    wrong("send and receive doubled", |m| actions(m, double_pair)),
    wrong("send of another piece", |m| {
        actions(m, |m, s, at| sent(&m.schedule[s][at]).and_then(|_| renumber(m, s, at)))
    }),
    wrong("receive of another piece", |m| {
        actions(m, |m, s, at| received(&m.schedule[s][at]).and_then(|_| renumber(m, s, at)))
    }),
    wrong("two pieces of a transfer exchanged on both ends", |m| transfers(m, exchange_pieces)),
    wrong("send before what makes it", |m| actions(m, |m, s, at| earlier(m, s, at, sent))),
    wrong("receive after what reads it", |m| actions(m, receive_late)),
    wrong("send of a transfer in the place of one that is sent before it is made", |m| {
        actions(m, |m, s, at| exchange_over_a_run(m, s, at, sent, |_, later, run| has(&run.outputs, later)))
    }),
    wrong("receive of a transfer in the place of one that is read before it", |m| {
        actions(m, |m, s, at| exchange_over_a_run(m, s, at, received, |earlier, _, run| has(&run.inputs, earlier)))
    }),
    wrong("stages that wait for one another", |m| actions(m, wait_for_answer)),
    wrong("transfer to its own stage", |m| {
        transfers(m, |m, at| set(&mut m.transfers[at].to, |to| *to = usize::from(*to == 0)))
    }),
    wrong("transfer from the other end", |m| {
        transfers(m, |m, at| {
            let own = &mut m.transfers[at];
            std::mem::swap(&mut own.from, &mut own.to);
            Some(())
        })
    }),
    wrong("receive on another stage", |m| transfers(m, receive_elsewhere)),
    wrong("transfer without one of its values", |m| transfers(m, |m, at| m.transfers[at].values.pop().map(|_| ()))),
    wrong("round without one of its values", |m| values_of(m, "round_")),
    wrong("state shared without one of its tensors", |m| values_of(m, "state_")),
    wrong("values of two transfers exchanged", |m| {
        pairs(m, m.transfers.len(), |m, one, other| {
            let values = std::mem::take(&mut m.transfers[one].values);
            let values = std::mem::replace(&mut m.transfers[other].values, values);
            m.transfers[one].values = values;
            Some(())
        })
    }),
    wrong("keys of two parts exchanged", exchange_keys),
    wrong("value of a transfer listed twice", |m| {
        transfers(m, |m, at| {
            let first = m.transfers[at].values.first()?.clone();
            m.transfers[at].values.push(first);
            Some(())
        })
    }),
    wrong("transfer between parts missing", |m| missing(m, "ward_")),
    wrong("round of the update missing", |m| missing(m, "round_")),
    wrong("shared state not sent", |m| missing(m, "state_")),
    wrong("shared state sent before it is updated", |m| {
        actions(m, |m, s, at| {
            sent(&m.schedule[s][at])
                .filter(|(name, _)| name.starts_with("state_"))
                .and_then(|_| before_last_run(m, s, at))
        })
    }),
    wrong("shared state received before an update that reads it", |m| {
        actions(m, |m, s, at| received_early(m, s, at, true))
    }),
    wrong("run missing", |m| actions(m, |m, s, at| is_run(&m.schedule[s][at]).map(|()| _ = m.schedule[s].remove(at)))),
    wrong("run doubled", |m| actions(m, |m, s, at| is_run(&m.schedule[s][at]).map(|()| double(m, s, at)))),
    wrong("run of another piece", |m| actions(m, |m, s, at| run(&m.schedule[s][at]).and_then(|_| renumber(m, s, at)))),
    wrong("run of another module of its stage", |m| actions(m, another_module)),
    wrong("module that is never called", never_called),
    wrong("last piece of a module left out", |m| modules(m, last_piece)),
    wrong("all of the last piece left out", |m| vec![without_last_piece(m)]),
    wrong("backward before its forward", |m| actions(m, backward_first)),
    wrong("weights' half of a backward missing", |m| {
        actions(m, |m, s, at| of_weights(&m.schedule[s][at]).map(|_| _ = m.schedule[s].remove(at)))
    }),
    wrong("weights' half of a backward doubled", |m| {
        actions(m, |m, s, at| of_weights(&m.schedule[s][at]).map(|_| double(m, s, at)))
    }),
    wrong("weights' half before the half that it reads of", |m| actions(m, weights_first)),
    wrong("weights' half of another piece", |m| {
        actions(m, |m, s, at| of_weights(&m.schedule[s][at]).and_then(|_| renumber(m, s, at)))
    }),
    wrong("weights' halves of two pieces exchanged", |m| {
        actions(m, |m, s, at| of_weights(&m.schedule[s][at]).and_then(|_| exchange_runs(m, s, at, false)))
    }),
    wrong("weights' half after the update", |m| actions(m, weights_late)),
    wrong("weights' half in the place of the inputs' half", |m| {
        actions(m, |m, s, at| of_weights(&m.schedule[s][at]).and_then(|_| another_half(m, s, at)))
    }),
    wrong("two values exchanged that one half hands on to the other", |m| modules(m, exchange_between_halves)),
    wrong("pieces of two runs of a module exchanged", |m| actions(m, |m, s, at| exchange_runs(m, s, at, false))),
    wrong("micro-batches exchanged on a stage, sends and all", |m| {
        actions(m, |m, s, at| exchange_runs(m, s, at, true))
    }),
    wrong("rounds of the update exchanged", |m| actions(m, exchange_rounds)),
    wrong("update before the last backward", |m| actions(m, update_early)),
    wrong("round sent before the last backward", |m| {
        actions(m, |m, s, at| {
            sent(&m.schedule[s][at])
                .filter(|(name, _)| name.starts_with("round_0"))
                .and_then(|_| before_last_piece(m, s, at))
        })
    }),
    wrong("lists of two stages exchanged", |m| {
        pairs(m, m.schedule.len(), |m, one, other| {
            m.schedule.swap(one, other);
            Some(())
        })
    }),
    wrong("list of a stage empty", |m| changed(m, 0..m.schedule.len(), |m, at| set(&mut m.schedule[at], Vec::clear))),
    wrong("module of another stage", |m| {
        modules(m, |m, at| set(&mut m.modules[at].stage, |stage| *stage = usize::from(*stage == 0)))
    }),
    wrong("sums of gradients exchanged", exchange_sums),
    wrong("sums of another stage updated", |m| modules(m, sums_of_another)),
    wrong("two values that a module reads exchanged", |m| ports(m, |m, at| &mut m.modules[at].inputs, is_tensor)),
    wrong("two values that a module makes exchanged", |m| ports(m, |m, at| &mut m.modules[at].outputs, is_tensor)),
    wrong("weights that a module reads exchanged", |m| ports(m, |m, at| &mut m.modules[at].inputs, is_weight)),
    wrong("state that an update writes exchanged", |m| {
        ports(m, |m, at| &mut m.modules[at].outputs, |port| port.role == PortRole::Buffer && !is_sum(&port.name))
    }),
    wrong("value that a backward reads of another part", |m| modules(m, of_another_part)),
    wrong("part of the evaluation missing", |m| {
        changed(m, 0..evaluation(m).len(), |m, at| evaluation_mut(m)[at].pop().map(|_| ()))
    }),
    wrong("module of the evaluation called in the update", |m| {
        changed(m, 0..evaluation(m).len(), |m, at| {
            let first = evaluation_mut(m)[at].iter().position(|action| run(action).is_some())?;
            let moved = evaluation_mut(m)[at].remove(first);
            m.schedule[at].insert(0, moved);
            Some(())
        })
    }),
    same(
        "shared state received before an update that does not read it",
        "nothing reads it until the next update",
        |m| actions(m, |m, s, at| received_early(m, s, at, false)),
    ),
    same("two numbers of the gradients' norm exchanged", "they are added up", |m| {
        ports(m, |m, at| &mut m.modules[at].inputs, is_of_norm)
    }),
    same("two sends exchanged in time", "a send waits for nobody, and receives look for what they name", |m| {
        actions(m, |m, s, at| swap_neighbours(m, s, at, sent, sent))
    }),
    same("two receives exchanged in time", "what came early is kept", |m| {
        actions(m, |m, s, at| swap_neighbours(m, s, at, received, received))
    }),
    same("values of a transfer in another order", "both ends take the same order", |m| {
        transfers(m, |m, at| set(&mut m.transfers[at].values, |values| values.reverse()))
    }),
];

fn set<T>(of: &mut T, change: impl FnOnce(&mut T)) -> Option<()> {
    change(of);
    Some(())
}

fn double(m: &mut Manifest, stage: usize, at: usize) {
    let again = m.schedule[stage][at].clone();
    m.schedule[stage].insert(at + 1, again);
}

fn is_run(action: &Action) -> Option<()> {
    matches!(action, Action::Run { .. }).then_some(())
}

/// Where the receive of a send is.
fn answer(m: &Manifest, send: &Action) -> Option<(usize, usize)> {
    let key = sent(send)?;
    let found = |(stage, list): (usize, &Vec<Action>)| {
        Some((stage, list.iter().position(|own| received(own).as_ref() == Some(&key))?))
    };
    m.schedule.iter().enumerate().find_map(found)
}

fn drop_pair(m: &mut Manifest, stage: usize, at: usize) -> Option<()> {
    let (to, there) = answer(m, &m.schedule[stage][at])?;
    m.schedule[stage].remove(at);
    m.schedule[to].remove(there);
    Some(())
}

fn double_pair(m: &mut Manifest, stage: usize, at: usize) -> Option<()> {
    let (to, there) = answer(m, &m.schedule[stage][at])?;
    double(m, stage, at);
    double(m, to, there);
    Some(())
}

/// Has an action be of the next piece, or the one before it.
fn renumber(m: &mut Manifest, stage: usize, at: usize) -> Option<()> {
    let action = &mut m.schedule[stage][at];
    let own = piece(action)?;
    *action = of_piece(action, if own == 0 { 1 } else { own - 1 });
    Some(())
}

/// Exchanges the first two pieces of a transfer, where it is sent and where it is received.
fn exchange_pieces(m: &mut Manifest, at: usize) -> Option<()> {
    let name = m.transfers[at].name.clone();
    for action in m.schedule.iter_mut().flatten() {
        if let Some((own, Some(piece @ ..2))) = sent(action).or_else(|| received(action))
            && own == name
        {
            *action = of_piece(action, 1 - piece);
        }
    }
    Some(())
}

/// Puts an action of a kind before the run that comes before it.
fn earlier<T>(m: &mut Manifest, stage: usize, at: usize, is_it: impl Fn(&Action) -> Option<T>) -> Option<()> {
    is_it(&m.schedule[stage][at])?;
    let before = at.checked_sub(1)?;
    run(&m.schedule[stage][before])?;
    m.schedule[stage].swap(before, at);
    Some(())
}

/// Puts a receive behind the run of its piece that reads it.
fn receive_late(m: &mut Manifest, stage: usize, at: usize) -> Option<()> {
    let (name, piece) = received(&m.schedule[stage][at])?;
    let values = &m.transfers.iter().find(|transfer| transfer.name == name)?.values;
    let reads = |action: &Action| {
        let (module, own) = run(action)?;
        let module = m.modules.iter().find(|one| one.name == module)?;
        (Some(own) == piece && module.inputs.iter().any(|port| values.contains(&port.name))).then_some(())
    };
    let reader = m.schedule[stage].iter().position(|action| reads(action).is_some())?;
    let moved = m.schedule[stage].remove(at);
    m.schedule[stage].insert(reader, moved);
    Some(())
}

/// Has a stage wait for the gradients of a piece before it sends what they are made of.
fn wait_for_answer(m: &mut Manifest, stage: usize, at: usize) -> Option<()> {
    let (name, piece) = sent(&m.schedule[stage][at]).filter(|(name, _)| name.starts_with("forward_"))?;
    let to = m.transfers.iter().find(|transfer| transfer.name == name)?.to;
    let comes_back = |action: &Action| {
        received(action).is_some_and(|(name, own)| {
            own == piece
                && name.starts_with("backward_")
                && m.transfers.iter().any(|one| one.name == name && one.from == to)
        })
    };
    let back = m.schedule[stage].iter().position(comes_back).filter(|&back| back > at)?;
    let moved = m.schedule[stage].remove(at);
    m.schedule[stage].insert(back, moved);
    Some(())
}

fn receive_elsewhere(m: &mut Manifest, at: usize) -> Option<()> {
    let (name, to) = (m.transfers[at].name.clone(), m.transfers[at].to);
    let other = (0..m.schedule.len()).find(|&stage| stage != to && stage != m.transfers[at].from)?;
    m.transfers[at].to = other;
    let is_it = |action: &Action| received(action).is_some_and(|(own, _)| own == name);
    let (moved, rest) = m.schedule[to].drain(..).partition(is_it);
    m.schedule[to] = rest;
    m.schedule[other].splice(0..0, Vec::from_iter::<Vec<Action>>(moved));
    Some(())
}

/// The manifest without the last, or the first, value of the transfers whose names begin so.
fn values_of(m: &Manifest, prefix: &str) -> Vec<Manifest> {
    let count = m.transfers.iter().map(|transfer| transfer.values.len()).max().unwrap_or(0);
    let places = (0..m.transfers.len()).flat_map(|at| (0..count).map(move |value| (at, value)));
    changed(m, places, |m, (at, value)| {
        let transfer = m.transfers.get_mut(at).filter(|transfer| transfer.name.starts_with(prefix))?;
        (value < transfer.values.len()).then(|| _ = transfer.values.remove(value))
    })
}

/// The manifest without the transfers whose names have this part.
fn missing(m: &Manifest, part: &str) -> Vec<Manifest> {
    transfers(m, |m, at| m.transfers[at].name.contains(part).then(|| _ = without(m, at)))
}

/// Puts an action before the last run of its stage.
fn before_last_run(m: &mut Manifest, stage: usize, at: usize) -> Option<()> {
    let last = m.schedule[stage].iter().rposition(|action| is_run(action).is_some()).filter(|&last| last < at)?;
    let moved = m.schedule[stage].remove(at);
    m.schedule[stage].insert(last, moved);
    Some(())
}

/// Puts an action before the last run of a piece.
fn before_last_piece(m: &mut Manifest, stage: usize, at: usize) -> Option<()> {
    let last = m.schedule[stage].iter().rposition(|action| run(action).is_some()).filter(|&last| last < at)?;
    let moved = m.schedule[stage].remove(at);
    m.schedule[stage].insert(last, moved);
    Some(())
}

/// Puts a receive of shared state before the last run, if that reads it or if it does not.
fn received_early(m: &mut Manifest, stage: usize, at: usize, is_read: bool) -> Option<()> {
    let (name, _) = received(&m.schedule[stage][at]).filter(|(name, _)| name.starts_with("state_"))?;
    let values = &m.transfers.iter().find(|transfer| transfer.name == name)?.values;
    let last = m.schedule[stage].iter().filter_map(run_once).next_back()?;
    let last = m.modules.iter().find(|module| module.name == last)?;
    let reads = last.inputs.iter().any(|port| values.contains(&port.name));
    if reads == is_read { before_last_run(m, stage, at) } else { None }
}

fn another_module(m: &mut Manifest, stage: usize, at: usize) -> Option<()> {
    let (name, piece) = run(&m.schedule[stage][at])?;
    let other = m.schedule[stage].iter().filter_map(run).find(|(other, _)| *other != name)?.0;
    m.schedule[stage][at] = Action::Run { module: other, pieces: Some(piece..piece + 1) };
    Some(())
}

/// The manifest without any call of a module.
fn never_called(m: &Manifest) -> Vec<Manifest> {
    modules(m, |m, at| {
        let name = m.modules[at].name.clone();
        let is_other = |action: &Action| !matches!(action, Action::Run { module, .. } if *module == name);
        m.schedule.iter_mut().chain(m.roles.values_mut().flatten()).for_each(|list| list.retain(is_other));
        Some(())
    })
}

fn last_piece(m: &mut Manifest, at: usize) -> Option<()> {
    let (name, stage) = (m.modules[at].name.clone(), m.modules[at].stage);
    let last = m.schedule[stage].iter().rposition(|action| run(action).is_some_and(|(own, _)| own == name))?;
    m.schedule[stage].remove(last);
    Some(())
}

fn without_last_piece(m: &Manifest) -> Manifest {
    let mut m = m.clone();
    let last = m.schedule.iter().flatten().filter_map(piece).max();
    m.schedule.iter_mut().for_each(|list| list.retain(|action| piece(action).is_none() || piece(action) != last));
    m
}

fn backward_first(m: &mut Manifest, stage: usize, at: usize) -> Option<()> {
    let (name, own) = run(&m.schedule[stage][at]).filter(|(name, _)| name.contains(".forward_"))?;
    let back = name.replace(".forward_", ".backward_");
    let there = m.schedule[stage].iter().position(|action| run(action) == Some((back.clone(), own)))?;
    m.schedule[stage].swap(at, there);
    Some(())
}

/// Exchanges the pieces of a run of a module and of the next one, and of the sends behind them.
fn exchange_runs(m: &mut Manifest, stage: usize, at: usize, with_sends: bool) -> Option<()> {
    let (name, own) = run(&m.schedule[stage][at])?;
    let other = own + 1;
    let list = &mut m.schedule[stage];
    let next = list.iter().position(|action| run(action) == Some((name.clone(), other)))?;
    for place in [at, next] {
        let turned = if place == at { other } else { own };
        list[place] = of_piece(&list[place], turned);
        if let Some(behind) = list
            .get_mut(place + 1)
            .filter(|action| with_sends && sent(action).is_some_and(|(_, piece)| piece.is_some()))
        {
            *behind = of_piece(behind, turned);
        }
    }
    let has_sends = list.get(at + 1).is_some_and(|action| sent(action).is_some());
    (has_sends || !with_sends).then_some(())
}

fn exchange_rounds(m: &mut Manifest, stage: usize, at: usize) -> Option<()> {
    run_once(&m.schedule[stage][at])?;
    let next = (at + 1..m.schedule[stage].len()).find(|&next| run_once(&m.schedule[stage][next]).is_some())?;
    m.schedule[stage].swap(at, next);
    Some(())
}

fn update_early(m: &mut Manifest, stage: usize, at: usize) -> Option<()> {
    run_once(&m.schedule[stage][at])?;
    before_last_piece(m, stage, at)
}

fn is_sum(name: &str) -> bool {
    name.starts_with("accum")
}

fn is_weight(port: &Port) -> bool {
    port.role == PortRole::Buffer && port.name.ends_with("weight") && !is_sum(&port.name)
}

/// Exchanges two sums of gradients that a module adds to, on both sides.
fn exchange_sums(m: &Manifest) -> Vec<Manifest> {
    modules(m, |m, at| {
        let module = &mut m.modules[at];
        let sums: Vec<usize> = (0..module.inputs.len()).filter(|&at| is_sum(&module.inputs[at].name)).collect();
        let mut pairs =
            sums.iter().flat_map(|&one| sums.iter().map(move |&other| (one, other))).filter(|(one, other)| one < other);
        let like = |(one, other): &(usize, usize)| module.inputs[*one].shape == module.inputs[*other].shape;
        let (one, other) = pairs.find(like)?;
        let place = |of: usize| module.outputs.iter().position(|port| port.name == module.inputs[of].name);
        let (a, b) = (place(one)?, place(other)?);
        exchange(&mut module.inputs, one, other)?;
        exchange(&mut module.outputs, a, b)
    })
}

/// Has an update read the sum of another stage.
fn sums_of_another(m: &mut Manifest, at: usize) -> Option<()> {
    if m.modules[at].role != ModuleRole::UPDATE_STEP {
        return None;
    }
    let stage = m.modules[at].stage;
    let others: Vec<Port> =
        m.modules.iter().filter(|module| module.stage != stage).flat_map(|module| module.inputs.clone()).collect();
    let own: Vec<String> = m.modules[at].inputs.iter().map(|port| port.name.clone()).collect();
    let sum = m.modules[at].inputs.iter_mut().filter(|port| is_sum(&port.name) && port.role == PortRole::Buffer);
    let found = sum.filter_map(|port| {
        let is_it = |other: &&Port| is_sum(&other.name) && other.shape == port.shape && !own.contains(&other.name);
        others.iter().find(is_it).map(|other| (port, other.name.clone()))
    });
    let (port, name) = found.last()?;
    port.name = name;
    Some(())
}

/// Has a backward read a value that the forward of another part made for its own.
fn of_another_part(m: &mut Manifest, at: usize) -> Option<()> {
    if !m.modules[at].name.contains(".backward_") {
        return None;
    }
    let stage = m.modules[at].stage;
    let made: Vec<Port> = m
        .modules
        .iter()
        .filter(|one| one.stage == stage)
        .flat_map(|one| one.outputs.clone())
        .filter(is_value)
        .collect();
    let own: Vec<String> = m.modules[at].inputs.iter().map(|port| port.name.clone()).collect();
    let found = m.modules[at].inputs.iter_mut().filter(|port| is_value(port)).find_map(|port| {
        let like = |other: &&Port| other.shape == port.shape && other.dtype == port.dtype && !own.contains(&other.name);
        made.iter().find(like).map(|other| (port, other.name.clone()))
    });
    let (port, name) = found?;
    port.name = name;
    Some(())
}

/// Exchanges two actions that follow one another.
fn swap_neighbours<T>(
    m: &mut Manifest,
    stage: usize,
    at: usize,
    first: impl Fn(&Action) -> Option<T>,
    second: impl Fn(&Action) -> Option<T>,
) -> Option<()> {
    first(&m.schedule[stage][at])?;
    second(m.schedule[stage].get(at + 1)?)?;
    if piece(&m.schedule[stage][at]).is_some() != piece(&m.schedule[stage][at + 1]).is_some() {
        return None;
    }
    m.schedule[stage].swap(at, at + 1);
    Some(())
}
