//! Faults of the halves of a backward.

use super::edits::{exchange, run, run_once};
use halite_bundle::{Action, Manifest};

/// The part of the name of a module that is the half of a backward for gradients by weights, and of the other half.
const OF_WEIGHTS: &str = ".backward_weights_";
const OF_INPUT: &str = ".backward_input_";

/// The part of the name of a value that the other half makes.
const BY_INPUT: &str = "_backward_input.";

/// The module and piece of a half of a backward for gradients by weights.
pub(super) fn of_weights(action: &Action) -> Option<(String, usize)> {
    run(action).filter(|(name, _)| name.contains(OF_WEIGHTS))
}

/// Puts the half for weights where the other half is, and that in its place.
pub(super) fn weights_first(m: &mut Manifest, stage: usize, at: usize) -> Option<()> {
    let (name, own) = of_weights(&m.schedule[stage][at])?;
    let other = (name.replace(OF_WEIGHTS, OF_INPUT), own);
    let there = m.schedule[stage].iter().position(|action| run(action).as_ref() == Some(&other))?;
    m.schedule[stage].swap(at, there);
    Some(())
}

/// Puts the last half for weights behind the update that reads its sums.
pub(super) fn weights_late(m: &mut Manifest, stage: usize, at: usize) -> Option<()> {
    of_weights(&m.schedule[stage][at])?;
    let update = m.schedule[stage].iter().position(|action| run_once(action).is_some())?;
    let is_last = !m.schedule[stage][at + 1..].iter().any(|action| of_weights(action).is_some());
    let moved = m.schedule[stage].remove(at);
    m.schedule[stage].insert(update, moved);
    is_last.then_some(())
}

/// Has the half for weights be run again as the half for inputs.
pub(super) fn another_half(m: &mut Manifest, stage: usize, at: usize) -> Option<()> {
    let (name, piece) = of_weights(&m.schedule[stage][at])?;
    m.schedule[stage][at] = Action::Run { module: name.replace(OF_WEIGHTS, OF_INPUT), pieces: Some(piece..piece + 1) };
    Some(())
}

/// Exchanges two values that a half for weights is given by the other half.
pub(super) fn exchange_between_halves(m: &mut Manifest, at: usize) -> Option<()> {
    let inputs = &mut m.modules[at].inputs;
    let given: Vec<usize> = (0..inputs.len()).filter(|&at| inputs[at].name.contains(BY_INPUT)).collect();
    let mut pairs = given.iter().flat_map(|&one| given.iter().map(move |&other| (one, other)));
    pairs.find_map(|(one, other)| if one < other { exchange(inputs, one, other) } else { None })
}
