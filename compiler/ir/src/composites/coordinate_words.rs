//! `coordinate_words`.

use super::hash::mix;
use super::parts::with_word;
use crate::attrs::{AttrKey, AttrSpec, Attrs};
use crate::build::{Builder, Values};
use crate::composite::{CompositeDef, VjpRule};
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg, Vjp, attr_error, dtype_error};
use crate::operands::{Args, Operands};
use crate::ops::{Add, Xor};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::DType;
use halite_tensor::rounding::{MAX_COORDINATE, mix as mixed};
use smallvec::smallvec;

static DIM: AttrKey<i64> = AttrKey::required("dim", "the number of the dimension, from 0");
static SIZE: AttrKey<i64> = AttrKey::required("size", "how many words");
static OFFSET: AttrKey<i64> = AttrKey::optional("offset", 0, "the first coordinate in the original tensor");

described! {
    /// The words of `size` coordinates along dimension `dim` in a step, `u32[size]`, from `step s32[]`; `random_bits` takes
    /// such a vector for each dimension. The coordinates, in the original tensor, are `offset` and those after it.
    ///
    /// The meaning is `along` of [`halite_tensor::rounding::random_bits`]. Sums stay below 2^24, as
    /// `check_exact_integers` of the analyses proves.
    #[derive(Debug)]
    pub(super) struct CoordinateWords;
}

struct Line {
    dim: u32,
    size: usize,
    offset: u32,
}

fn line(attrs: &Attrs) -> Result<Line> {
    let (dim, size, offset) = (attrs.get(&DIM)?, attrs.get(&SIZE)?, attrs.get(&OFFSET)?);
    let Ok(dim) = u32::try_from(dim) else {
        return Err(attr_error(format!("`coordinate_words` of dimension {dim}")).help("count dimensions from 0"));
    };
    let end = size.checked_add(offset).filter(|&end| size >= 0 && offset >= 0 && end <= i64::from(MAX_COORDINATE));
    match (end, usize::try_from(size), u32::try_from(offset)) {
        (Some(_), Ok(size), Ok(offset)) => Ok(Line { dim, size, offset }),
        _ => Err(attr_error(format!("`coordinate_words` of size {size} at {offset} reaches beyond 2^24 or below 0"))
            .note("larger coordinates are not exact in `f32`, in which targets add")),
    }
}

impl CompositeDef for CoordinateWords {
    fn name(&self) -> &str {
        "coordinate_words"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["step"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![DIM.spec(), SIZE.spec(), OFFSET.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, attrs: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let step = args[0];
        if *step != TensorType::scalar(DType::S32) {
            return Err(dtype_error("coordinate_words", "a step of `s32[]`", step));
        }
        Ok(smallvec![TensorType::new(DType::U32, [line(attrs)?.size])])
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let Line { dim, size, offset } = line(attrs)?;
        let step = b.bitcast_convert(args[0], DType::U32)?;
        let word = with_word(b, Xor, step, mixed(dim))?;
        let word = mix(b, word)?;
        let word = b.broadcast_in_dim(word, &[], [size])?;
        let mut coordinates = b.iota(DType::U32, [size], 0)?;
        if offset > 0 {
            coordinates = with_word(b, Add, coordinates, offset)?;
        }
        let words = b.xor(word, coordinates)?;
        Ok(smallvec![mix(b, words)?])
    }

    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(Box::new(|_, _, _| Ok(Vjp::none("random words do not depend smoothly on the step"))))
    }

    fn policy(&self) -> Policy {
        Policy::INTEGER
    }

    fn samples(&self, _: DType) -> Vec<Sample> {
        let sample = |label, dim, size, offset| {
            let attrs = [DIM.to(dim), SIZE.to(size), OFFSET.to(offset)];
            let step = SampleArg::whole(DType::S32, [], i64::from(i32::MIN), i64::from(i32::MAX));
            Sample::new(label, super::op(&CoordinateWords, &attrs), [step])
        };
        let last = i64::from(MAX_COORDINATE) - 4;
        vec![
            sample("rows", 0, 9, 0),
            sample("columns", 1, 5, 0),
            sample("part", 0, 3, 6),
            sample("end", 2, 4, last),
            sample("none", 0, 0, 0),
        ]
    }
}
