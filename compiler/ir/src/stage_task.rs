//! The tasks of the stages of a pipeline.

use std::fmt;

/// The task that a function is of a pipeline: a program that one stage runs. As text `forward(1)`, `backward(1)`,
/// `backward_input(1)`, `backward_weights(1)`, `update(0, 1)`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum StageTask {
    /// The forward of a part of the model.
    Forward {
        /// The part, from 0.
        part: usize,
    },
    /// The backward of a part of the model.
    Backward {
        /// The part, from 0.
        part: usize,
    },
    /// The half of a backward that makes the gradient by what the part was given.
    BackwardInput {
        /// The part, from 0.
        part: usize,
    },
    /// The half of a backward that makes the gradients by weights.
    BackwardWeights {
        /// The part, from 0.
        part: usize,
    },
    /// A round of the update of a stage. Before each round but the first, stages give one another what others read.
    Update {
        /// The stage, from 0.
        stage: usize,
        /// The round, from 0.
        round: usize,
    },
}

impl StageTask {
    /// The task of a word with its numbers, as they are written; `None` where there is no such task.
    pub(crate) fn read(word: &str, numbers: &[usize]) -> Option<Self> {
        match (word, numbers) {
            ("forward", &[part]) => Some(Self::Forward { part }),
            ("backward", &[part]) => Some(Self::Backward { part }),
            ("backward_input", &[part]) => Some(Self::BackwardInput { part }),
            ("backward_weights", &[part]) => Some(Self::BackwardWeights { part }),
            ("update", &[stage, round]) => Some(Self::Update { stage, round }),
            _ => None,
        }
    }
}

impl fmt::Display for StageTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forward { part } => write!(f, "forward({part})"),
            Self::Backward { part } => write!(f, "backward({part})"),
            Self::BackwardInput { part } => write!(f, "backward_input({part})"),
            Self::BackwardWeights { part } => write!(f, "backward_weights({part})"),
            Self::Update { stage, round } => write!(f, "update({stage}, {round})"),
        }
    }
}
