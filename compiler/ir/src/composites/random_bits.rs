//! `random_bits`.

use super::hash::rounds;
use crate::attrs::Attrs;
use crate::build::{Builder, Values};
use crate::composite::{CompositeDef, VjpRule};
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg, Vjp, dtype_error, shape_error};
use crate::operands::{Args, Operands};
use crate::ops::movement::require_countable;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::rounding::ELEMENT_ROUNDS;
use halite_tensor::{DType, Shape};
use smallvec::smallvec;

described! {
    /// Random bits as `u32[n0, n1, ..]` from the word of a stream, `u32[]`, and a vector of coordinate words for each
    /// dimension, `u32[n0]`, `u32[n1]` and so on. `stream_words` and `coordinate_words` make these; the three together mean
    /// [`halite_tensor::rounding::random_bits`], which says how and why.
    ///
    /// Multiplications stay below 2^24, as `check_exact_integers` of the analyses proves. Each element costs
    /// 24 instructions, and one more for each dimension after the first. The word is added to the first vector.
    #[derive(Debug)]
    pub(super) struct RandomBits;
}

/// One size for each vector.
fn shape(along: &[&TensorType]) -> Result<Shape> {
    let size = |ty: &&TensorType| match (ty.dtype(), &ty.shape()[..]) {
        (DType::U32, &[size]) => Ok(size),
        (DType::U32, _) => Err(shape_error(format!("coordinate words of `random_bits` are a vector, found `{ty}`"))
            .help("give one vector for each dimension, as `coordinate_words` makes it")),
        _ => Err(dtype_error("random_bits", "coordinate words in `u32`", ty)),
    };
    along.iter().map(size).collect()
}

/// The type of the bits of these words.
pub(super) fn bits_type(word: &TensorType, along: &[&TensorType]) -> Result<TensorType> {
    if *word != TensorType::scalar(DType::U32) {
        return Err(dtype_error("random_bits", "a word of `u32[]`", word));
    }
    require_countable("random_bits", DType::U32, shape(along)?)
}

impl CompositeDef for RandomBits {
    fn name(&self) -> &str {
        "random_bits"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["word"]).rest("along")
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        Ok(smallvec![bits_type(args[0], args.rest())?])
    }

    fn expand(&self, b: &mut Builder<'_>, _: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let (word, along) = (args[0], args.rest());
        let shape: Shape = along.iter().map(|&along| b.shape(along)[0]).collect();
        let mut sum = word;
        for (dim, &along) in along.iter().enumerate() {
            let addend = if dim == 0 {
                let word = b.broadcast_in_dim(word, &[], b.shape(along).clone())?;
                b.xor(word, along)?
            } else {
                along
            };
            let spread = b.broadcast_in_dim(addend, &[dim], shape.clone())?;
            sum = if dim == 0 { spread } else { b.xor(sum, spread)? };
        }
        Ok(smallvec![rounds(b, sum, &ELEMENT_ROUNDS)?])
    }

    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(Box::new(|_, _, _| Ok(Vjp::none("random bits do not depend smoothly on words"))))
    }

    fn policy(&self) -> Policy {
        Policy::INTEGER
    }

    fn samples(&self, _: DType) -> Vec<Sample> {
        let sample = |label, sizes: &[usize]| {
            let words = |shape: Shape| SampleArg::whole(DType::U32, shape, 0, i64::from(u32::MAX));
            let along = sizes.iter().map(|&size| words([size].into()));
            let args: Vec<_> = std::iter::once(words(Shape::scalar())).chain(along).collect();
            Sample::new(label, super::op(&RandomBits, &[]), args)
        };
        vec![
            sample("scalar", &[]),
            sample("vector", &[9]),
            sample("matrix", &[3, 4]),
            sample("cube", &[2, 3, 2]),
            sample("none", &[0, 2]),
        ]
    }
}
