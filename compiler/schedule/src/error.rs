//! Reasons why something is no schedule.

use crate::Action;
use thiserror::Error;

/// A reason why there is no such schedule, or why lists are none.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The kind of schedule is for one chunk on each stage, or for several.
    #[error("`{kind}` runs {wanted} of the model on each stage, not {chunks}")]
    Chunks {
        /// The word of the kind.
        kind: &'static str,
        /// The chunks that it is for.
        wanted: &'static str,
        /// The number of chunks.
        chunks: usize,
    },
    /// The kind of schedule is for micro-batches that are a multiple of the stages.
    #[error("`{kind}` takes micro-batches that are a multiple of the {stages} stages, not {micro_batches}")]
    MicroBatches {
        /// The word of the kind.
        kind: &'static str,
        /// The number of stages.
        stages: usize,
        /// The number of micro-batches.
        micro_batches: usize,
    },
    /// There are lists for another number of stages.
    #[error("there are {found} lists for {expected} stages")]
    Stages {
        /// The number of lists.
        found: usize,
        /// The number of stages.
        expected: usize,
    },
    /// A list has something that it cannot have, or has it too early.
    #[error("action {at} of stage {stage}, `{action}`: {reason}")]
    Action {
        /// The stage.
        stage: usize,
        /// The position in its list, from 0.
        at: usize,
        /// The action.
        action: Action,
        /// The rule that it breaks.
        reason: &'static str,
    },
    /// A list lacks something.
    #[error("stage {stage} lacks `{action}`")]
    Missing {
        /// The stage.
        stage: usize,
        /// The action that it lacks.
        action: Action,
    },
    /// Stages wait for one another for ever.
    #[error("stages wait for one another for ever: {}", listed(waiting))]
    Deadlock {
        /// The stages that wait, each with what it waits at.
        waiting: Vec<(usize, Action)>,
    },
}

fn listed(waiting: &[(usize, Action)]) -> String {
    let each = waiting.iter().map(|(stage, action)| format!("stage {stage} for `{action}`"));
    each.collect::<Vec<_>>().join(", ")
}
