//! Data of which there is only one value for a call.

use crate::{DType, HostTensor, Shape, causal_mask};
use serde::{Deserialize, Serialize};

/// The declared content of data that the host feeds: it may feed nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// The causal mask: `pred[.., size, size]`, true where the last index is at most the one before.
    Causal,
    /// The numbers of all ranks of a mesh, `s32[ranks]`, of which each rank holds its own.
    Ranks,
    /// The number of the micro-batch in its update, `s32[]` from 0: the caller gives each call that of its piece of the batch.
    MicroBatch,
}

impl Content {
    /// The only value of this shape for a call on a piece of the batch, of which the first is 0.
    pub fn tensor(self, shape: &Shape, piece: usize) -> HostTensor {
        match self {
            Self::Causal => causal_mask(shape),
            Self::Ranks => HostTensor::from_ints(DType::S32, shape.clone(), 0..shape.num_elements() as i128),
            Self::MicroBatch => HostTensor::from_ints(DType::S32, shape.clone(), [piece as i128]),
        }
    }
}
