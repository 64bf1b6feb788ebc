//! The sizes of a pipeline.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The most runs of parts of a model that lists are made for.
const MOST: usize = 1 << 20;

/// A pipeline of which a number is 0, or that has more work than lists are made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("{stages} stages times {chunks} chunks times {micro_batches} micro-batches: {reason}")]
pub struct PipelineError {
    stages: usize,
    chunks: usize,
    micro_batches: usize,
    reason: &'static str,
}

/// The stages of a pipeline, the parts of the model that each holds, and the micro-batches of an update.
///
/// Part `p` is on stage `p % stages`: where a stage holds several chunks, a micro-batch goes round all stages several times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Sizes", into = "Sizes")]
pub struct Pipeline(Sizes);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sizes {
    stages: usize,
    chunks: usize,
    micro_batches: usize,
}

impl Pipeline {
    /// A pipeline of at least one stage, chunk and micro-batch.
    ///
    /// # Errors
    /// When one of the three is 0, or their product is above 2^20.
    pub fn new(stages: usize, chunks: usize, micro_batches: usize) -> Result<Self, PipelineError> {
        Sizes { stages, chunks, micro_batches }.try_into()
    }

    /// The number of stages.
    pub fn stages(&self) -> usize {
        self.0.stages
    }

    /// The number of parts that a stage holds.
    pub fn chunks(&self) -> usize {
        self.0.chunks
    }

    /// The number of micro-batches in an update.
    pub fn micro_batches(&self) -> usize {
        self.0.micro_batches
    }

    /// The number of parts of the model.
    pub fn parts(&self) -> usize {
        self.stages() * self.chunks()
    }

    /// The stage that holds a part.
    pub fn stage_of(&self, part: usize) -> usize {
        part % self.stages()
    }

    /// The parts that a stage holds, in the order of the model.
    pub fn parts_of(&self, stage: usize) -> impl Iterator<Item = usize> + use<> {
        (stage..self.parts()).step_by(self.stages())
    }
}

impl TryFrom<Sizes> for Pipeline {
    type Error = PipelineError;

    fn try_from(sizes: Sizes) -> Result<Self, PipelineError> {
        let Sizes { stages, chunks, micro_batches } = sizes;
        let all = stages.checked_mul(chunks).and_then(|parts| parts.checked_mul(micro_batches));
        let reason = match all {
            Some(0) => "each is at least 1",
            Some(all) if all <= MOST => return Ok(Self(sizes)),
            _ => "their product is at most 1,048,576",
        };
        Err(PipelineError { stages, chunks, micro_batches, reason })
    }
}

impl From<Pipeline> for Sizes {
    fn from(Pipeline(sizes): Pipeline) -> Self {
        sizes
    }
}
