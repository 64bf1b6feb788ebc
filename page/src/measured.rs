//! Measurements of a run, for people.

use halite_ir::{LOSS_SCALE, METRICS};
use halite_train::{Startup, StepRecord, TimeRecord};

/// The prefix before the name of a group of the optimizer in that of the norm of its gradient.
pub(crate) const GROUP_NORM: &str = "grad_norm.";

/// The metrics that the model reports itself, beside its loss.
pub fn of_model(record: &StepRecord) -> impl Iterator<Item = (&str, f64)> {
    let is_of_step = |name: &str| METRICS.contains(&name) || name == LOSS_SCALE || name.starts_with(GROUP_NORM);
    let named = record.metrics.iter().map(|(name, value)| (name.as_str(), *value));
    named.filter(move |(name, _)| !is_of_step(name))
}

/// Updates over which the speed of a run is taken.
pub const LATEST: usize = 10;

/// The last updates of the last process of a run, without its first one, which warms up, where there are others.
pub(crate) fn latest<'a>(records: &'a [TimeRecord], startups: &[Startup]) -> &'a [TimeRecord] {
    let before = startups.last().map_or(0, |startup| startup.update);
    let own = &records[records.partition_point(|record| record.step <= before)..];
    let warm = own.len().saturating_sub(1).clamp(own.len().min(1), LATEST);
    &own[own.len() - warm..]
}

/// The mean seconds of updates; `None` where no device of the target made them, or there are none.
pub fn update_seconds<'a>(records: impl IntoIterator<Item = &'a TimeRecord>) -> Option<f64> {
    let seconds = |record: &TimeRecord| record.mfu.map(|_| record.data + record.compute);
    let all: Vec<f64> = records.into_iter().map(seconds).collect::<Option<_>>()?;
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

/// Seconds of an update beside those that were estimated, in words.
pub fn beside_estimate(measured: f64, estimated: f64) -> String {
    format!("{measured:.3} s, {:.2} of the estimated {estimated:.3} s", measured / estimated)
}
