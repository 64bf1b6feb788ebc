//! Errors that end a run whose numbers are no longer finite.

use super::metrics::Metrics;
use halite_support::{Diagnostic, codes};

/// The help on numbers that are not finite.
const REMEDY: &str = "lower the learning rate, lengthen the warm-up, or set `clip_norm`; where a narrow type may be the cause, \
                      `halite check` names it";

/// The error of an update whose metrics [are not finite](Metrics::are_finite), which was made, or skipped at the least scale of the
/// loss.
pub(super) fn of_update(update: u64, metrics: &Metrics, made: bool) -> Diagnostic {
    let found: Vec<_> = metrics.not_finite().map(|(name, value)| format!("`{name}` is {value}")).collect();
    let error = Diagnostic::error(codes::DIVERGED, format!("update {update} is not finite: {}", found.join(", ")));
    if made {
        return error
            .note("the update was made, so that the state is of no use any more: load the last one that was saved")
            .help(format!("set `nonfinite = \"skip\"` to have such updates skipped, {REMEDY}"));
    }
    error
        .note("the update was skipped, and the scale of the loss is as small as `loss_scale.min` lets it be")
        .help(format!("lower `loss_scale.min`, set `nonfinite = \"skip\"` to go on, {REMEDY}"))
}

/// The error of an evaluation after so many updates.
pub(super) fn of_evaluation(updates: u64, loss: f64) -> Diagnostic {
    Diagnostic::error(codes::DIVERGED, format!("after update {updates} the loss on held-out text is {loss}"))
        .help(REMEDY)
}

/// The error of a run in which so many updates up to this one were skipped.
pub(super) fn of_skipped(skipped: usize, update: u64) -> Diagnostic {
    let message = format!("the last {skipped} updates up to {update} were skipped: none had finite gradients");
    Diagnostic::error(codes::DIVERGED, message).help(REMEDY)
}
