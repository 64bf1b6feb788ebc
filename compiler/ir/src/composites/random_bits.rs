//! `random_bits`.

use super::parts::with_word;
use crate::attr::Attr;
use crate::build::{Builder, Values};
use crate::composite::{AttrSpec, Attrs, CompositeDef};
use crate::op::{InferCx, Policy, Sample, SampleArg, Vjp, VjpCx, arity, attr_error, dtype_error};
use crate::ops::movement::require_countable;
use crate::ops::{Add, And, Multiply, ShiftLeft, ShiftRightLogical, Xor};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::rounding::{ELEMENT_MULTIPLIERS, MAX_COORDINATE, MIX_MULTIPLIERS, MIX_OFFSET};
use halite_tensor::{DType, Shape};
use smallvec::{SmallVec, smallvec};
use std::sync::LazyLock;

static SCHEMA: LazyLock<[AttrSpec; 2]> = LazyLock::new(|| {
    let ints = || Attr::Ints(SmallVec::new());
    [
        AttrSpec::optional("shape", ints(), "the sizes of the result; none for a scalar"),
        AttrSpec::optional(
            "offset",
            ints(),
            "where the result begins in the original tensor, one for each size; zeros",
        ),
    ]
});

/// Random bits as `u32` of sizes `shape`, from `key u32[]` and `step s32[]`: a hash of both and of each element's
/// coordinates in the original tensor, which are its own plus `offset`. All 32 bits of key and step count.
///
/// The meaning is [`halite_tensor::rounding::random_bits`], which says how and why. Additions and multiplications stay
/// below 2^24, as [`check_exact_integers`](crate::check_exact_integers) proves. Each element costs 12 instructions, and
/// one more for each dimension after the first; everything else works on scalars and on one vector for each dimension.
#[derive(Debug)]
pub(super) struct RandomBits;

/// The sizes of the result and the coordinates at which it begins.
fn region(attrs: &Attrs) -> Result<(Shape, Vec<u32>)> {
    let (shape, offset) = (attrs.ints("shape"), attrs.ints("offset"));
    let offset = if offset.is_empty() { vec![0; shape.len()] } else { offset.to_vec() };
    if offset.len() != shape.len() {
        let message = format!("`random_bits` of shape {shape:?} has {} offsets, {offset:?}", offset.len());
        return Err(attr_error(message).help("give one offset for each size, or none"));
    }
    let fits = |(&size, &from): (&i64, &i64)| {
        let end = size.checked_add(from).filter(|&end| size >= 0 && from >= 0 && end <= i64::from(MAX_COORDINATE));
        end.and_then(|_| Some((usize::try_from(size).ok()?, u32::try_from(from).ok()?)))
    };
    let Some((shape, offset)): Option<(Vec<usize>, Vec<u32>)> = shape.iter().zip(&offset).map(fits).collect() else {
        let message = format!("`random_bits` of shape {shape:?} at {offset:?} reaches beyond 2^24 or below 0");
        return Err(attr_error(message).note("larger coordinates are not exact in `f32`, in which Trainium adds"));
    };
    Ok((shape.as_slice().into(), offset))
}

/// The bijection `mix` of words.
fn mix(b: &mut Builder<'_>, word: Value) -> Result<Value> {
    let word = with_word(b, Xor, word, MIX_OFFSET)?;
    rounds(b, word, &MIX_MULTIPLIERS)
}

/// The rounds `up` and `down` in turn.
fn rounds(b: &mut Builder<'_>, mut word: Value, multipliers: &[u32]) -> Result<Value> {
    for (at, &multiplier) in multipliers.iter().enumerate() {
        word = if at % 2 == 0 { up(b, word, multiplier)? } else { down(b, word, multiplier)? };
    }
    Ok(word)
}

fn up(b: &mut Builder<'_>, word: Value, multiplier: u32) -> Result<Value> {
    let lower = with_word(b, And, word, 0xffff)?;
    let product = with_word(b, Multiply, lower, multiplier)?;
    let moved = with_word(b, ShiftLeft, product, 8)?;
    b.xor(word, moved)
}

fn down(b: &mut Builder<'_>, word: Value, multiplier: u32) -> Result<Value> {
    let upper = with_word(b, ShiftRightLogical, word, 16)?;
    let product = with_word(b, Multiply, upper, multiplier)?;
    let moved = with_word(b, ShiftRightLogical, product, 8)?;
    b.xor(word, moved)
}

impl CompositeDef for RandomBits {
    fn name(&self) -> &str {
        "random_bits"
    }

    fn schema(&self) -> &[AttrSpec] {
        &*SCHEMA
    }

    fn infer(&self, _: &InferCx<'_>, attrs: &Attrs, args: &[&TensorType]) -> Result<Types> {
        let [key, step] = arity("random_bits", args)?;
        for (found, expected) in [(key, TensorType::scalar(DType::U32)), (step, TensorType::scalar(DType::S32))] {
            if *found != expected {
                return Err(dtype_error("random_bits", "a key of `u32[]` and a step of `s32[]`", found));
            }
        }
        let (shape, _) = region(attrs)?;
        Ok(smallvec![require_countable("random_bits", DType::U32, shape)?])
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: &[Value]) -> Result<Values> {
        let (shape, offset) = region(attrs)?;
        let stream = mix(b, args[0])?;
        let step = b.bitcast_convert(args[1], DType::U32)?;
        let mut word = b.xor(stream, step)?;
        let mut element = None;
        for (dim, (&size, offset)) in shape.iter().zip(offset).enumerate() {
            word = mix(b, word)?;
            let index = b.iota(DType::U32, [size], 0)?;
            let coordinate = with_word(b, Add, index, offset)?;
            let along = b.broadcast_in_dim(word, &[], [size])?;
            let along = b.xor(along, coordinate)?;
            let along = mix(b, along)?;
            let along = b.broadcast_in_dim(along, &[dim], shape.clone())?;
            element = Some(match element {
                Some(element) => b.xor(element, along)?,
                None => along,
            });
            word = b.xor(word, stream)?;
        }
        let element = match element {
            Some(element) => element,
            None => mix(b, word)?,
        };
        Ok(smallvec![rounds(b, element, &ELEMENT_MULTIPLIERS)?])
    }

    fn has_vjp(&self) -> bool {
        true
    }

    fn vjp(&self, _: &mut Builder<'_>, _: &Attrs, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::None("random bits do not depend smoothly on key and step"))
    }

    fn policy(&self) -> Policy {
        Policy::INTEGER
    }

    fn samples(&self, _: DType) -> Vec<Sample> {
        let ints = |list: &[i64]| Attr::Ints(list.into());
        let sample = |label, shape: &[i64], offset: &[i64]| {
            let op = super::op(&RandomBits, &[("shape", ints(shape)), ("offset", ints(offset))]);
            let key = SampleArg::whole(DType::U32, [], 0, i64::from(u32::MAX));
            Sample::new(label, op, [key, SampleArg::whole(DType::S32, [], i64::from(i32::MIN), i64::from(i32::MAX))])
        };
        let last = i64::from(MAX_COORDINATE) - 2;
        vec![
            sample("scalar", &[], &[]),
            sample("vector", &[9], &[]),
            sample("matrix", &[3, 4], &[]),
            sample("part", &[2, 3], &[last, 5]),
            sample("cube", &[2, 3, 2], &[0, 1, 0]),
            sample("none", &[0, 2], &[]),
        ]
    }
}
