//! `stream_words`.

use super::hash::mix;
use crate::attrs::Attrs;
use crate::build::{Builder, Values};
use crate::composite::{CompositeDef, VjpRule};
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg, Vjp, dtype_error};
use crate::operands::{Args, Operands};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::DType;
use smallvec::smallvec;

described! {
    /// The words of streams in a step, `u32[n]`, from their `keys u32[n]` and `step s32[]`; `random_bits` takes one of them.
    /// All 32 bits of key and step count, and keys that differ give words that do.
    ///
    /// The meaning is the word of [`halite_tensor::rounding::random_bits`].
    #[derive(Debug)]
    pub(super) struct StreamWords;
}

impl CompositeDef for StreamWords {
    fn name(&self) -> &str {
        "stream_words"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["keys", "step"])
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let [keys, step] = args.required()?;
        if keys.dtype() != DType::U32 || keys.rank() != 1 {
            return Err(dtype_error("stream_words", "a vector of keys in `u32`", keys));
        }
        if *step != TensorType::scalar(DType::S32) {
            return Err(dtype_error("stream_words", "a step of `s32[]`", step));
        }
        Ok(smallvec![keys.clone()])
    }

    fn expand(&self, b: &mut Builder<'_>, _: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let streams = mix(b, args[0])?;
        let step = b.bitcast_convert(args[1], DType::U32)?;
        let step = b.broadcast_in_dim(step, &[], b.shape(streams).clone())?;
        let words = b.xor(streams, step)?;
        Ok(smallvec![mix(b, words)?])
    }

    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(Box::new(|_, _, _| Ok(Vjp::none("random words do not depend smoothly on key and step"))))
    }

    fn policy(&self) -> Policy {
        Policy::INTEGER
    }

    fn samples(&self, _: DType) -> Vec<Sample> {
        let sample = |label, count: usize| {
            let keys = SampleArg::whole(DType::U32, [count], 0, i64::from(u32::MAX));
            let step = SampleArg::whole(DType::S32, [], i64::from(i32::MIN), i64::from(i32::MAX));
            Sample::new(label, super::op(&StreamWords, &[]), [keys, step])
        };
        vec![sample("streams", 7), sample("one", 1), sample("none", 0)]
    }
}
