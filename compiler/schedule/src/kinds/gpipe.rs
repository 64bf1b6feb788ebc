//! `gpipe`, after Huang et al. (2019), "GPipe: Efficient Training of Giant Neural Networks using Pipeline Parallelism".

use crate::kind::{all, one_chunk};
use crate::{Kind, Pipeline, Run, ScheduleError, Task};

/// All forwards, then all backwards.
pub(super) struct Gpipe;

impl Kind for Gpipe {
    fn check(&self, pipeline: &Pipeline) -> Result<(), ScheduleError> {
        one_chunk("gpipe", pipeline)
    }

    /// Backwards in the order of micro-batches too, so that gradients are added up as in other kinds.
    fn order(&self, pipeline: &Pipeline, stage: usize) -> Vec<Run> {
        let mut order = all(Task::Forward, stage, pipeline);
        order.extend(all(Task::Backward, stage, pipeline));
        order
    }

    fn in_flight(&self, pipeline: &Pipeline, _stage: usize) -> usize {
        pipeline.micro_batches()
    }
}
