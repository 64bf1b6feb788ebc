//! Changes of a manifest, in each place where they can be made.

use halite_bundle::{Action, Buffer, Manifest, ModuleEntry, ModuleRole, Port, PortRole, Transfer};
use halite_tensor::Content;

/// The manifest with a change in each place of its lists: `edit` is given the stage and the position, and says whether it made it.
pub(super) fn actions(manifest: &Manifest, edit: impl Fn(&mut Manifest, usize, usize) -> Option<()>) -> Vec<Manifest> {
    let places =
        manifest.schedule.iter().enumerate().flat_map(|(stage, list)| (0..list.len()).map(move |at| (stage, at)));
    changed(manifest, places, |manifest, (stage, at)| edit(manifest, stage, at))
}

/// The same in each transfer.
pub(super) fn transfers(manifest: &Manifest, edit: impl Fn(&mut Manifest, usize) -> Option<()>) -> Vec<Manifest> {
    changed(manifest, 0..manifest.transfers.len(), edit)
}

/// The same in each two transfers, values or other things that are numbered.
pub(super) fn pairs(
    manifest: &Manifest,
    count: usize,
    edit: impl Fn(&mut Manifest, usize, usize) -> Option<()>,
) -> Vec<Manifest> {
    let places = (0..count).flat_map(|one| (one + 1..count).map(move |other| (one, other)));
    changed(manifest, places, |manifest, (one, other)| edit(manifest, one, other))
}

/// The same in each module.
pub(super) fn modules(manifest: &Manifest, edit: impl Fn(&mut Manifest, usize) -> Option<()>) -> Vec<Manifest> {
    changed(manifest, 0..manifest.modules.len(), edit)
}

/// The most places of a change that are looked at.
const PLACES: usize = 400;

pub(super) fn changed<P>(
    manifest: &Manifest,
    places: impl Iterator<Item = P>,
    edit: impl Fn(&mut Manifest, P) -> Option<()>,
) -> Vec<Manifest> {
    let places: Vec<P> = places.collect();
    let step = places.len().div_ceil(PLACES).max(1);
    let one = |place| {
        let mut own = manifest.clone();
        edit(&mut own, place).filter(|()| own != *manifest).map(|()| own)
    };
    places.into_iter().step_by(step).filter_map(one).collect()
}

/// The name and piece of a send.
pub(super) fn sent(action: &Action) -> Option<(String, Option<usize>)> {
    if let Action::Send { transfer, piece } = action { Some((transfer.clone(), *piece)) } else { None }
}

/// The name and piece of a receive.
pub(super) fn received(action: &Action) -> Option<(String, Option<usize>)> {
    if let Action::Receive { transfer, piece } = action { Some((transfer.clone(), *piece)) } else { None }
}

/// The module of a run for one piece, and the piece.
pub(super) fn run(action: &Action) -> Option<(String, usize)> {
    match action {
        Action::Run { module, pieces: Some(pieces) } => Some((module.clone(), pieces.start)),
        _ => None,
    }
}

/// The module of a run for all pieces.
pub(super) fn run_once(action: &Action) -> Option<String> {
    match action {
        Action::Run { module, pieces: None } => Some(module.clone()),
        _ => None,
    }
}

/// The action for another piece.
pub(super) fn of_piece(action: &Action, piece: usize) -> Action {
    match action.clone() {
        Action::Run { module, .. } => Action::Run { module, pieces: Some(piece..piece + 1) },
        Action::Send { transfer, .. } => Action::Send { transfer, piece: Some(piece) },
        Action::Receive { transfer, .. } => Action::Receive { transfer, piece: Some(piece) },
    }
}

/// The piece of an action that is of one.
pub(super) fn piece(action: &Action) -> Option<usize> {
    match action {
        Action::Run { pieces, .. } => pieces.as_ref().map(|pieces| pieces.start),
        Action::Send { piece, .. } | Action::Receive { piece, .. } => *piece,
    }
}

/// Removes a transfer with what is done of it.
pub(super) fn without(manifest: &mut Manifest, at: usize) -> Transfer {
    let gone = manifest.transfers.remove(at);
    let is_other = |action: &Action| sent(action).or(received(action)).is_none_or(|(name, _)| name != gone.name);
    manifest.schedule.iter_mut().chain(manifest.roles.values_mut().flatten()).for_each(|list| list.retain(is_other));
    gone
}

/// Exchanges the names of two ports of these, of one role and type. Values are of one module: the weights' half of a backward multiplies
/// such as it gets from two, in which case they may be exchanged.
pub(super) fn exchange(ports: &mut [Port], one: usize, other: usize) -> Option<()> {
    let (a, b) = (ports.get(one)?.clone(), ports.get(other)?.clone());
    let is_like = a.role == b.role && a.dtype == b.dtype && a.shape == b.shape && a.sharding == b.sharding;
    if !is_like || (is_tensor(&a) && maker(&a) != maker(&b)) {
        return None;
    }
    ports[one].name = b.name;
    ports[other].name = a.name;
    Some(())
}

/// The name of a value without its number: that of what makes it.
fn maker(port: &Port) -> Option<&str> {
    port.name.rsplit_once('.').map(|(maker, _)| maker)
}

/// Pairs of ports of each module of an update or an evaluation that pass a test.
pub(super) fn ports(
    manifest: &Manifest,
    side: impl Fn(&mut Manifest, usize) -> &mut Vec<Port>,
    is_it: impl Fn(&Port) -> bool,
) -> Vec<Manifest> {
    let mut places = Vec::new();
    for module in (0..manifest.modules.len()).filter(|&at| manifest.modules[at].role != ModuleRole::FORWARD) {
        let ports = side(&mut manifest.clone(), module).clone();
        let own: Vec<usize> = (0..ports.len()).filter(|&at| is_it(&ports[at])).collect();
        // Each port with those of its kind that come next.
        places.extend(own.iter().enumerate().flat_map(|(at, &one)| {
            own[at + 1..]
                .iter()
                .filter(|&&other| ports[one].shape == ports[other].shape)
                .take(1)
                .map(move |&other| (module, one, other))
                .collect::<Vec<_>>()
        }));
    }
    changed(manifest, places.into_iter(), |manifest, (module, one, other)| exchange(side(manifest, module), one, other))
}

pub(super) fn is_value(port: &Port) -> bool {
    port.role == PortRole::Value
}

/// A number of an update that stages give one another, or several such numbers: squares of gradients, which are added up.
pub(super) fn is_of_norm(port: &Port) -> bool {
    is_value(port) && port.name.starts_with("update_step.")
}

/// A value of a micro-batch.
pub(super) fn is_tensor(port: &Port) -> bool {
    is_value(port) && port.name.starts_with("grad_step.")
}

/// The lists of an evaluation.
pub(super) fn evaluation(manifest: &Manifest) -> &[Vec<Action>] {
    manifest.roles.get(&ModuleRole::EVAL).map_or(&[], Vec::as_slice)
}

pub(super) fn evaluation_mut(manifest: &mut Manifest) -> &mut [Vec<Action>] {
    manifest.roles.get_mut(&ModuleRole::EVAL).map_or(&mut [], Vec::as_mut_slice)
}

/// The keys of random bits of two parts, in the place of one another.
pub(super) fn exchange_keys(m: &Manifest) -> Vec<Manifest> {
    let is_of_keys = |buffer: &Buffer| matches!(buffer.content(), Some(Content::Keys(_)));
    let keys: Vec<usize> = (0..m.buffers.len()).filter(|&at| is_of_keys(&m.buffers[at])).collect();
    pairs(m, keys.len(), |m, one, other| {
        let (one, other) = (keys[one], keys[other]);
        if m.buffers[one].shape != m.buffers[other].shape {
            return None;
        }
        let role = m.buffers[one].role.clone();
        m.buffers[one].role = std::mem::replace(&mut m.buffers[other].role, role);
        Some(())
    })
}

/// Exchanges an action and the next one like it of another transfer, where a run between the two minds: it makes the values of the second,
/// or reads those of the first.
pub(super) fn exchange_over_a_run<T>(
    m: &mut Manifest,
    stage: usize,
    at: usize,
    is_it: impl Fn(&Action) -> Option<(String, T)>,
    minds: impl Fn(&Transfer, &Transfer, &ModuleEntry) -> bool,
) -> Option<()> {
    let list = &m.schedule[stage];
    let (own, _) = is_it(&list[at])?;
    let next = (at + 1..list.len()).find(|&next| is_it(&list[next]).is_some_and(|(name, _)| name != own))?;
    let (other, _) = is_it(&list[next])?;
    let transfer = |name: &str| m.transfers.iter().find(|transfer| transfer.name == name);
    let (earlier, later) = (transfer(&own)?, transfer(&other)?);
    let called = |action: &Action| run(action).map(|(module, _)| module).or_else(|| run_once(action));
    let mut between = list[at + 1..next].iter().filter_map(called);
    let minded = |name: String| m.modules.iter().any(|module| module.name == name && minds(earlier, later, module));
    if !between.any(minded) {
        return None;
    }
    m.schedule[stage].swap(at, next);
    Some(())
}

/// Whether a value of a transfer is among ports.
pub(super) fn has(ports: &[Port], transfer: &Transfer) -> bool {
    ports.iter().any(|port| transfer.values.contains(&port.name))
}
