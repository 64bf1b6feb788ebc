//! `1f1b`, after Narayanan et al. (2021), "Memory-Efficient Pipeline-Parallel DNN Training" (PipeDream-Flush).

use crate::kind::{all, in_turn, one_chunk};
use crate::{Kind, Pipeline, Run, ScheduleError, Task};

/// As many forwards as it takes until a backward comes back, then one of each in turn.
pub(super) struct OneForwardOneBackward;

impl Kind for OneForwardOneBackward {
    fn check(&self, pipeline: &Pipeline) -> Result<(), ScheduleError> {
        one_chunk("1f1b", pipeline)
    }

    fn order(&self, pipeline: &Pipeline, stage: usize) -> Vec<Run> {
        let (forward, backward) = (all(Task::Forward, stage, pipeline), all(Task::Backward, stage, pipeline));
        in_turn(&forward, &backward, self.in_flight(pipeline, stage))
    }

    fn in_flight(&self, pipeline: &Pipeline, stage: usize) -> usize {
        (pipeline.stages() - stage).min(pipeline.micro_batches())
    }
}
