//! Data of which there is only one value for a call.

use crate::{DType, HostTensor, Shape, StreamKeys, causal_mask};
use serde::{Deserialize, Serialize};

/// The declared content of data that the host feeds: it may feed nothing else.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// The causal mask: `pred[.., size, size]`, true where the last index is at most the one before.
    Causal,
    /// The numbers of all ranks of a mesh, `s32[ranks]`, of which each rank holds its own.
    Ranks,
    /// The number of the micro-batch in its update, `s32[]` from 0: the caller gives each call that of its piece of the batch.
    MicroBatch,
    /// The keys of streams of random bits, `u32[streams]`.
    Keys(StreamKeys),
}

impl Content {
    /// The type of what it may be declared for, where a tensor is none of it.
    pub fn unfit(&self, dtype: DType, shape: &[usize]) -> Option<String> {
        let (fits, expected) = match self {
            Self::Causal => {
                let is_square = shape.len() >= 2 && shape[shape.len() - 2] == shape[shape.len() - 1];
                (dtype == DType::Pred && is_square, "pred[.., size, size]".to_owned())
            }
            Self::Ranks => (dtype == DType::S32 && shape.len() == 1, "s32[ranks]".to_owned()),
            Self::MicroBatch => (dtype == DType::S32 && shape.is_empty(), "s32[]".to_owned()),
            Self::Keys(keys) => {
                let streams = keys.streams().len();
                (dtype == DType::U32 && shape == [streams], format!("u32[{streams}]"))
            }
        };
        (!fits).then_some(expected)
    }

    /// The only value of this shape for a call on a piece of the batch, of which the first is 0.
    pub fn tensor(&self, shape: &Shape, piece: usize) -> HostTensor {
        match self {
            Self::Causal => causal_mask(shape),
            Self::Ranks => HostTensor::from_ints(DType::S32, shape.clone(), 0..shape.num_elements() as i128),
            Self::MicroBatch => HostTensor::from_ints(DType::S32, shape.clone(), [piece as i128]),
            Self::Keys(keys) => keys.tensor(),
        }
    }
}
