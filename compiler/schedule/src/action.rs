//! Actions of stages.

use crate::Pipeline;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The computation of a part of the model on one micro-batch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// The forward.
    Forward,
    /// The whole backward: the gradients by the part's input and by its weights.
    Backward,
    /// The gradient by the part's input alone.
    BackwardInput,
    /// The gradients by the part's weights alone.
    BackwardWeights,
}

impl Task {
    /// The letter in texts: `F`, `B`, `I`, `W`, as in PyTorch's schedules.
    pub fn letter(self) -> char {
        match self {
            Self::Forward => 'F',
            Self::Backward => 'B',
            Self::BackwardInput => 'I',
            Self::BackwardWeights => 'W',
        }
    }
}

/// One part of the model run on one micro-batch. As text `3F0`: part 3, forward, micro-batch 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The computation.
    pub task: Task,
    /// The part of the model.
    pub part: usize,
    /// The micro-batch, from 0.
    pub micro_batch: usize,
}

/// The kind of values that go from one stage to the next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Crossing {
    /// Results of a forward, to the part after it.
    Activations,
    /// The gradients by the input of a part, to the part before it.
    Gradients,
}

/// Values of one micro-batch on their way from the part that made them to the next one on another stage. As text `3F0` or `3B0`: what part 3 made
/// of micro-batch 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    /// The values.
    pub crossing: Crossing,
    /// The part that made them.
    pub part: usize,
    /// The micro-batch, from 0.
    pub micro_batch: usize,
}

impl Transfer {
    /// The values that a run waits for, where another stage makes them.
    pub(crate) fn into(run: Run, pipeline: &Pipeline) -> Option<Self> {
        let Run { task, part, micro_batch } = run;
        let (crossing, from) = match task {
            Task::Forward => (Crossing::Activations, part.checked_sub(1)?),
            Task::Backward | Task::BackwardInput => (Crossing::Gradients, part.checked_add(1)?),
            Task::BackwardWeights => return None,
        };
        Self { crossing, part: from, micro_batch }.between_stages(pipeline)
    }

    /// The values that a run makes for another stage.
    pub(crate) fn out_of(run: Run, pipeline: &Pipeline) -> Option<Self> {
        let Run { task, part, micro_batch } = run;
        let crossing = match task {
            Task::Forward => Crossing::Activations,
            Task::Backward | Task::BackwardInput => Crossing::Gradients,
            Task::BackwardWeights => return None,
        };
        Self { crossing, part, micro_batch }.between_stages(pipeline)
    }

    /// The part that reads the values; `None` after the last and before the first.
    pub fn to_part(&self, pipeline: &Pipeline) -> Option<usize> {
        match self.crossing {
            Crossing::Activations => self.part.checked_add(1).filter(|&part| part < pipeline.parts()),
            Crossing::Gradients => self.part.checked_sub(1),
        }
    }

    fn between_stages(self, pipeline: &Pipeline) -> Option<Self> {
        let crosses = |to| pipeline.stage_of(to) != pipeline.stage_of(self.part);
        (self.part < pipeline.parts() && self.to_part(pipeline).is_some_and(crosses)).then_some(self)
    }
}

/// One thing that a stage does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Runs a part on a micro-batch.
    Run(Run),
    /// Sends values to the stage of the next part.
    Send(Transfer),
    /// Waits for values of another stage.
    Receive(Transfer),
    /// Adds up the scalars of all stages (loss, its count, the norm of the gradient), and waits for all of them.
    Reduce,
    /// Updates the weights of the stage.
    Update,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.part, self.task.letter(), self.micro_batch)
    }
}

impl fmt::Display for Transfer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.crossing {
            Crossing::Activations => 'F',
            Crossing::Gradients => 'B',
        };
        write!(f, "{}{letter}{}", self.part, self.micro_batch)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(run) => write!(f, "{run}"),
            Self::Send(transfer) => write!(f, "send {transfer}"),
            Self::Receive(transfer) => write!(f, "receive {transfer}"),
            Self::Reduce => f.write_str("reduce"),
            Self::Update => f.write_str("update"),
        }
    }
}
