//! Measurements of a run, for people.

use halite_ir::{LOSS_SCALE, METRICS};
use halite_train::StepRecord;

/// The prefix before the name of a group of the optimizer in that of the norm of its gradient.
pub(crate) const GROUP_NORM: &str = "grad_norm.";

/// The metrics that the model reports itself, beside its loss.
pub fn of_model(record: &StepRecord) -> impl Iterator<Item = (&str, f64)> {
    let is_of_step = |name: &str| METRICS.contains(&name) || name == LOSS_SCALE || name.starts_with(GROUP_NORM);
    let named = record.metrics.iter().map(|(name, value)| (name.as_str(), *value));
    named.filter(move |(name, _)| !is_of_step(name))
}
