//! The interface of a kind of schedule.

use crate::{Pipeline, Run, ScheduleError, Task};

/// A kind of schedule: the order in which a stage runs its parts.
pub trait Kind: Sync {
    /// The pipelines that it is not for, and which it is for.
    ///
    /// # Errors
    /// [`ScheduleError::Chunks`] or [`ScheduleError::MicroBatches`] for a pipeline that it is not for.
    fn check(&self, pipeline: &Pipeline) -> Result<(), ScheduleError>;

    /// The runs of a stage in one update, in order: each part on each micro-batch, forward and backward. Gradients by weights of a part
    /// are made in the order of micro-batches, so that all kinds add them up alike.
    fn order(&self, pipeline: &Pipeline, stage: usize) -> Vec<Run>;

    /// Whether gradients by inputs and gradients by weights are runs of their own.
    fn splits_backward(&self) -> bool {
        false
    }

    /// The most forwards of a stage whose backward is not done, each of which keeps residuals.
    fn in_flight(&self, pipeline: &Pipeline, stage: usize) -> usize;
}

/// All micro-batches of a stage forward and backward: `ahead` forwards, then a backward and a forward in turn, then the backwards that are left.
pub(crate) fn in_turn(forward: &[Run], backward: &[Run], ahead: usize) -> Vec<Run> {
    let ahead = ahead.min(forward.len());
    let (first, rest) = forward.split_at(ahead);
    let mut rest = rest.iter();
    let mut order = first.to_vec();
    for &run in backward {
        order.push(run);
        order.extend(rest.next());
    }
    order
}

/// The runs of one part on all micro-batches.
pub(crate) fn all(task: Task, part: usize, pipeline: &Pipeline) -> Vec<Run> {
    (0..pipeline.micro_batches()).map(|micro_batch| Run { task, part, micro_batch }).collect()
}

/// # Errors
/// When a stage holds several parts.
pub(crate) fn one_chunk(kind: &'static str, pipeline: &Pipeline) -> Result<(), ScheduleError> {
    match pipeline.chunks() {
        1 => Ok(()),
        chunks => Err(ScheduleError::Chunks { kind, wanted: "one chunk", chunks }),
    }
}
