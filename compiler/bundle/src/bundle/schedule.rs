//! Checks of a schedule: the stages, what these call and send to one another, and the values that modules pass on.

mod play;

use crate::schedule::is_word;
use crate::{Action, Manifest, ModuleEntry, ModuleRole, Port, PortRole, Transfer};
use indexmap::IndexMap;
use std::collections::HashSet;
use std::ops::Range;

type Checked<T = ()> = std::result::Result<T, String>;

/// A value by the stage that has it and its name.
type Values<'m> = IndexMap<(usize, &'m str), &'m Port>;

/// Checks that modules and transfers are there and lie on their stages, that each piece of the batch is taken once and all calls take
/// one number of micro-batches, that what is sent is received, that each value has one maker, and that all is there when it is read.
pub(super) fn check(manifest: &Manifest) -> Checked {
    let lists = manifest.lists();
    let stages = lists.map(Vec::len).max().unwrap_or(0);
    if let Some(module) = manifest.modules.iter().find(|module| module.stage >= stages.max(1)) {
        return Err(format!(
            "the module `{}` is of stage {}, which the schedule does not have",
            module.name, module.stage
        ));
    }
    let (made, state) = (made(&manifest.modules)?, state(manifest));
    let mut known = made.clone();
    for transfer in &manifest.transfers {
        check_transfer(transfer, stages, (&made, &state), &mut known)?;
    }
    manifest.modules.iter().try_for_each(|module| check_read(module, &known))?;
    Doings::of(manifest)?.check(manifest)?;
    if manifest.micro_batches().is_none() {
        return Err("the calls of the schedule read different numbers of micro-batches".to_owned());
    }
    manifest.lists().try_for_each(|lists| {
        check_whole(manifest, lists)?;
        play::play(manifest, lists)
    })
}

fn values(ports: &[Port]) -> impl Iterator<Item = &Port> {
    ports.iter().filter(|port| port.role == PortRole::Value)
}

/// The values that modules make.
fn made(modules: &[ModuleEntry]) -> Checked<Values<'_>> {
    let mut made = Values::new();
    for module in modules {
        if let Some(port) = values(&module.inputs).chain(values(&module.outputs)).find(|port| port.sharding.is_some()) {
            return Err(format!("the value `{}` of the module `{}` is sharded", port.name, module.name));
        }
        for port in values(&module.outputs) {
            if made.insert((module.stage, port.name.as_str()), port).is_some() {
                return Err(format!("two modules of stage {} make the value `{}`", module.stage, port.name));
            }
        }
    }
    Ok(made)
}

/// The state that each stage holds.
fn state(manifest: &Manifest) -> Values<'_> {
    let data: HashSet<&str> =
        manifest.buffers.iter().filter(|buffer| buffer.is_batch()).map(|buffer| buffer.name.as_str()).collect();
    let inputs = manifest.modules.iter().flat_map(|module| module.inputs.iter().map(|port| (module.stage, port)));
    let held = inputs.filter(|(_, port)| port.role == PortRole::Buffer && !data.contains(port.name.as_str()));
    held.map(|(stage, port)| ((stage, port.name.as_str()), port)).collect()
}

/// Checks a transfer of what is made or of state, and adds what it brings to what stages know. State goes to stages that hold it too, or is a
/// value there.
fn check_transfer<'m>(
    transfer: &'m Transfer,
    stages: usize,
    (made, state): (&Values<'m>, &Values<'m>),
    known: &mut Values<'m>,
) -> Checked {
    let &Transfer { ref name, from, to, ref values } = transfer;
    if !is_word(name) {
        return Err(format!("a transfer is called `{name}`, expected a name without spaces"));
    }
    if from == to || from.max(to) >= stages {
        return Err(format!("the transfer `{name}` goes from stage {from} to stage {to}, expected two of {stages}"));
    }
    for value in values {
        let key = (from, value.as_str());
        let Some(port) = made.get(&key).or_else(|| state.get(&key)) else {
            return Err(format!("the transfer `{name}` takes `{value}`, which no module of stage {from} makes"));
        };
        if state.contains_key(&(to, value.as_str())) {
            continue;
        }
        if known.insert((to, value), port).is_some() {
            return Err(format!("the transfer `{name}` brings `{value}` to stage {to}, which has it already"));
        }
    }
    Ok(())
}

/// Checks that the values that a module reads are known on its stage, in that type.
fn check_read(module: &ModuleEntry, known: &Values<'_>) -> Checked {
    for port in values(&module.inputs) {
        let what = format!("the value `{}` of the module `{}`", port.name, module.name);
        match known.get(&(module.stage, port.name.as_str())) {
            None => return Err(format!("{what} is neither made on stage {} nor brought there", module.stage)),
            Some(maker) if (maker.dtype, maker.local_shape()) != (port.dtype, port.local_shape()) => {
                return Err(format!("{what} has another type than what is made"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// The pieces that a module is called for.
type Runs<'m> = (&'m ModuleEntry, Vec<Option<Range<usize>>>);

/// The pieces of which a transfer is sent, and those of which it is received.
type Exchange<'m> = (&'m Transfer, [Vec<Option<usize>>; 2]);

/// The actions of all stages in an update, by the module or transfer that they are of.
struct Doings<'m> {
    runs: IndexMap<&'m str, Runs<'m>>,
    transfers: IndexMap<&'m str, Exchange<'m>>,
}

impl<'m> Doings<'m> {
    /// # Errors
    /// When an action is none of its stage.
    fn of(manifest: &'m Manifest) -> Checked<Self> {
        let runs = manifest.modules.iter().map(|module| (module.name.as_str(), (module, Vec::new()))).collect();
        let transfers = manifest.transfers.iter().map(|one| (one.name.as_str(), (one, [Vec::new(), Vec::new()])));
        let mut doings = Self { runs, transfers: transfers.collect() };
        if doings.transfers.len() < manifest.transfers.len() {
            return Err("two transfers have one name".to_owned());
        }
        for lists in manifest.lists() {
            for (stage, actions) in lists.iter().enumerate() {
                actions.iter().try_for_each(|action| doings.add(stage, action))?;
            }
        }
        Ok(doings)
    }

    fn add(&mut self, stage: usize, action: &Action) -> Checked {
        // What comes from no text may hold what no text can say.
        action.to_string().parse::<Action>().map_err(|error| error.to_string())?;
        match action {
            Action::Run { module, pieces } => {
                let Some((entry, runs)) = self.runs.get_mut(module.as_str()) else {
                    return Err(format!("the schedule calls `{module}`, which is no module"));
                };
                if entry.stage != stage {
                    return Err(format!("stage {stage} calls `{module}`, which is of stage {}", entry.stage));
                }
                runs.push(pieces.clone());
                Ok(())
            }
            Action::Send { transfer, piece } => self.transfer(stage, "sends", transfer, *piece),
            Action::Receive { transfer, piece } => self.transfer(stage, "receives", transfer, *piece),
        }
    }

    fn transfer(&mut self, stage: usize, word: &str, name: &str, piece: Option<usize>) -> Checked {
        let Some((transfer, [sent, received])) = self.transfers.get_mut(name) else {
            return Err(format!("stage {stage} {word} `{name}`, which is no transfer"));
        };
        let (end, pieces) = if word == "sends" { (transfer.from, sent) } else { (transfer.to, received) };
        if end != stage {
            return Err(format!("stage {stage} {word} `{name}`, which stage {end} does"));
        }
        pieces.push(piece);
        Ok(())
    }

    fn check(mut self, manifest: &Manifest) -> Checked {
        for (module, runs) in self.runs.values().filter(|(_, runs)| !runs.is_empty()) {
            // Inputs that disagree are found with the micro-batches.
            check_pieces(&module.name, runs, manifest.micro_batches_of(module) != Some(0))?;
        }
        for (name, (_, [sent, received])) in &mut self.transfers {
            sent.sort_unstable();
            received.sort_unstable();
            if let Some((_, twice)) = sent.iter().zip(sent.iter().skip(1)).find(|(one, next)| one == next) {
                let piece = twice.map(|piece| format!(" of piece {piece}")).unwrap_or_default();
                return Err(format!("the transfer `{name}`{piece} is sent twice"));
            }
            if sent.is_empty() && received.is_empty() {
                return Err(format!("the transfer `{name}` is not made"));
            }
            if sent != received {
                return Err(format!("the transfer `{name}` is sent of other pieces than it is received"));
            }
        }
        Ok(())
    }
}

/// Checks that lists which call a module of a role call all of them, those that are called for pieces for the same ones.
fn check_whole(manifest: &Manifest, lists: &[Vec<Action>]) -> Checked {
    let mut ends: IndexMap<&str, Option<usize>> = IndexMap::new();
    for action in lists.iter().flatten() {
        if let Action::Run { module, pieces } = action {
            ends.insert(module, pieces.as_ref().map(|pieces| pieces.end));
        }
    }
    let of_lists = |module: &&ModuleEntry| ends.contains_key(module.name.as_str());
    let roles: HashSet<&ModuleRole> = manifest.modules.iter().filter(of_lists).map(|module| &module.role).collect();
    if let Some(left) = manifest.modules.iter().find(|module| roles.contains(&module.role) && !of_lists(module)) {
        return Err(format!("the schedule does not call `{}`, but others with its role", left.name));
    }
    let pieces = ends.values().flatten().max();
    match ends.iter().find(|(_, end)| end.is_some() && end.as_ref() != pieces) {
        Some((module, _)) => Err(format!("the schedule calls `{module}` for fewer pieces than other modules")),
        None => Ok(()),
    }
}

/// Checks that a module is called once for each piece up to the last, in order, or once for all.
fn check_pieces(module: &str, runs: &[Option<Range<usize>>], reads_batch: bool) -> Checked {
    let mut next = 0;
    for pieces in runs.iter() {
        match pieces {
            None if reads_batch => {
                return Err(format!("the schedule calls `{module}` for no piece of the batch, which it reads"));
            }
            None if runs.len() > 1 => {
                return Err(format!("the schedule calls `{module}` once for all pieces, and again"));
            }
            Some(pieces) if pieces.start < next => {
                return Err(format!("the schedule calls `{module}` twice for piece {}", pieces.start));
            }
            Some(pieces) if pieces.start > next => {
                return Err(format!("the schedule calls `{module}` for piece {}, not for {next}", pieces.start));
            }
            _ => {}
        }
        next = pieces.as_ref().map_or(next, |pieces| pieces.end);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
