//! `zero-bubble`, after Qi et al. (2023), "Zero Bubble Pipeline Parallelism": the form that keeps no more than `1f1b` (H1).

use crate::kind::{all, one_chunk};
use crate::{Kind, Pipeline, Run, ScheduleError, Task};

/// As `1f1b`, with gradients by weights as many micro-batches later as there are stages before: the first stages have theirs at once, the last
/// ones when the others drain.
pub(super) struct ZeroBubble;

impl Kind for ZeroBubble {
    fn check(&self, pipeline: &Pipeline) -> Result<(), ScheduleError> {
        one_chunk("zero-bubble", pipeline)
    }

    fn order(&self, pipeline: &Pipeline, stage: usize) -> Vec<Run> {
        let forward = all(Task::Forward, stage, pipeline);
        let (first, rest) = forward.split_at((pipeline.stages() - stage).min(forward.len()));
        let mut order = first.to_vec();
        let mut rest = rest.iter();
        let weights = all(Task::BackwardWeights, stage, pipeline);
        let mut late = weights.iter();
        for (done, run) in all(Task::BackwardInput, stage, pipeline).into_iter().enumerate() {
            order.push(run);
            if done >= stage {
                order.extend(late.next());
            }
            order.extend(rest.next());
        }
        order.extend(late);
        order
    }

    fn splits_backward(&self) -> bool {
        true
    }

    fn in_flight(&self, pipeline: &Pipeline, _stage: usize) -> usize {
        pipeline.stages().min(pipeline.micro_batches())
    }
}
