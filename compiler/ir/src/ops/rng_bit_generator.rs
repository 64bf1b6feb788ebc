//! `rng_bit_generator`.

use super::movement::require_countable;
use crate::attr::{AttrSlot, AttrVisitor, ResultSlot, word_attr};
use crate::build::Builder;
use crate::described;
use crate::dims::FactorMap;
use crate::effect::Effect;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity, dtype_error};
use crate::philox;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::{ArrayType, Id, RngAlgorithm};
use halite_support::{Diagnostic, Result};
use halite_tensor::{DType, Dims, HostTensor, Indices, Shape};
use smallvec::smallvec;

word_attr! {
    /// The generator of random bits (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
    Generator, "`three_fry` or `philox`" {
        /// Threefry-2x32 with 20 rounds.
        #[default]
        ThreeFry = "three_fry",
        /// Philox-4x32 with 10 rounds. Its counter may have two words, with the key a state `u64[3]`.
        Philox = "philox",
    }
}

described! {
    /// Uniform random bits: unsigned integers of the type of the second result. The operand and the first result are the
    /// state `u64[2]`: a key and a counter, of which the second advances.
    ///
    /// Counters are laid out as XLA's expansion of the generator does, so that bits equal those of XLA on every backend.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    pub struct RngBitGenerator {
        /// The generator.
        pub generator: Generator,
        /// The type of the bits.
        pub bits: TensorType,
    }
}

impl Default for RngBitGenerator {
    fn default() -> Self {
        Self { generator: Generator::ThreeFry, bits: TensorType::scalar(DType::U32) }
    }
}

/// One block of Threefry-2x32.
fn threefry(key: u64, counter: u64) -> [u32; 2] {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    const PARITY: u32 = 0x1bd1_1bda;
    let [k0, k1] = [key as u32, (key >> 32) as u32];
    let keys = [k0, k1, PARITY ^ k0 ^ k1];
    let [mut x, mut y] = [(counter as u32).wrapping_add(k0), ((counter >> 32) as u32).wrapping_add(k1)];
    for group in 1..=5 {
        for rotation in ROTATIONS[(group - 1) % 2] {
            x = x.wrapping_add(y);
            y = y.rotate_left(rotation) ^ x;
        }
        x = x.wrapping_add(keys[group % 3]);
        y = y.wrapping_add(keys[(group + 1) % 3]).wrapping_add(group as u32);
    }
    [x, y]
}

/// The dimension along which the two words of each block alternate: the first even one, else the first largest.
fn paired_dim(shape: &[usize]) -> Option<usize> {
    let largest = || {
        let greatest = shape.iter().max()?;
        shape.iter().position(|size| size == greatest)
    };
    shape.iter().position(|size| size % 2 == 0).or_else(largest)
}

/// One 32-bit word for each element, and the number of blocks drawn: `ceil(n / 2)` along the paired dimension.
fn words(shape: &Shape, key: u64, counter: u64) -> (Vec<u32>, u64) {
    let Some(paired) = paired_dim(shape) else { return (vec![threefry(key, counter)[0]], 1) };
    let mut blocks = shape.clone();
    blocks[paired] = blocks[paired].div_ceil(2);
    let strides = blocks.strides();
    let word = |mut index: Dims| {
        let half = index[paired] % 2;
        index[paired] /= 2;
        let block: usize = index.iter().zip(&strides).map(|(at, stride)| at * stride).sum();
        threefry(key, counter.wrapping_add(block as u64))[half]
    };
    (Indices::new(shape).map(word).collect(), blocks.num_elements() as u64)
}

/// One 64-bit word for each element, low half first.
fn long_words(count: usize, key: u64, counter: u64) -> Vec<u64> {
    let word = |block| {
        let [low, high] = threefry(key, counter.wrapping_add(block));
        u64::from(low) | u64::from(high) << 32
    };
    (0..count as u64).map(word).collect()
}

impl OpDef for RngBitGenerator {
    fn name(&self) -> &str {
        "rng_bit_generator"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.refinement("generator", &mut self.generator, &Generator::ThreeFry.get());
        visitor.result(1, ResultSlot::Type(&mut self.bits));
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [state] = arity("rng_bit_generator", args)?;
        let longest = if self.generator == Generator::Philox { 3 } else { 2 };
        let fits = state.rank() == 1 && (2..=longest).contains(&state.shape()[0]);
        if state.dtype() != DType::U64 || !fits {
            return Err(dtype_error("rng_bit_generator", "a state of type `u64[2]`", state));
        }
        if !self.bits.dtype().is_unsigned_int() {
            return Err(dtype_error("rng_bit_generator", "an unsigned integer as the type of its bits", &self.bits));
        }
        require_countable("rng_bit_generator", self.bits.dtype(), self.bits.shape().clone())?;
        Ok(smallvec![state.clone(), self.bits.clone()])
    }

    fn eval(&self, _: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let (state, shape) = (args[0].ints(), self.bits.shape());
        if self.generator == Generator::Philox {
            let state: Vec<u64> = state.iter().map(|&word| word as u64).collect();
            let (words, next) = philox::words(&state, shape.num_elements(), self.bits.dtype() == DType::U64);
            let tensor = |ty: &TensorType, words: Vec<u64>| {
                HostTensor::from_ints(ty.dtype(), ty.shape().clone(), words.into_iter().map(i128::from))
            };
            return Ok(vec![tensor(&TensorType::new(DType::U64, [next.len()]), next), tensor(&self.bits, words)]);
        }
        let (key, counter) = (state[0] as u64, state[1] as u64);
        let (bits, drawn): (Vec<i128>, u64) = if self.bits.dtype() == DType::U64 {
            let count = shape.num_elements();
            (long_words(count, key, counter).into_iter().map(i128::from).collect(), count as u64)
        } else {
            let (words, drawn) = words(shape, key, counter);
            (words.into_iter().map(i128::from).collect(), drawn)
        };
        let next = [i128::from(key), i128::from(counter.wrapping_add(drawn))];
        Ok(vec![
            HostTensor::from_ints(DType::U64, [2], next),
            HostTensor::from_ints(self.bits.dtype(), shape.clone(), bits),
        ])
    }

    fn vjp(&self, _: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::none("random bits do not depend smoothly on the state"))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::INTEGER
    }

    fn effect(&self, _: &InferCx<'_>) -> Effect {
        Effect::RANDOM
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::new(0, args, results)
    }

    /// Every element depends on the whole state.
    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        FactorMap::opaque(args, results)
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let bits = ArrayType::new(self.bits.dtype(), self.bits.shape().clone());
        let algorithm = match self.generator {
            Generator::ThreeFry => RngAlgorithm::ThreeFry,
            Generator::Philox => RngAlgorithm::Philox,
        };
        let both = cx.hlo.rng_bit_generator(algorithm, args[0], &bits)?;
        Ok(smallvec![cx.hlo.get_tuple_element(both, 0)?, cx.hlo.get_tuple_element(both, 1)?])
    }

    fn samples(&self, _: DType) -> Vec<Sample> {
        let op = |dtype, shape: &[usize]| RngBitGenerator { bits: TensorType::new(dtype, shape), ..Self::default() };
        let philox = |dtype, shape: &[usize]| Self { generator: Generator::Philox, ..op(dtype, shape) };
        let state = || [SampleArg::whole(DType::U64, [2], 0, 1 << 40)];
        vec![
            Sample::new("philox", philox(DType::U32, &[3, 3]), state()),
            Sample::new("philox, long", philox(DType::U64, &[5]), state()),
            Sample::new("philox, narrow", philox(DType::U8, &[6]), [SampleArg::whole(DType::U64, [3], 0, 1 << 40)]),
            Sample::new("even", op(DType::U32, &[3, 4]), state()),
            Sample::new("odd", op(DType::U32, &[3, 5]), state()),
            Sample::new("scalar", op(DType::U32, &[]), state()),
            Sample::new("narrow", op(DType::U8, &[6]), state()),
            Sample::new("long", op(DType::U64, &[2, 3]), state()),
        ]
    }
}

impl Builder<'_> {
    /// The next state and random bits of type `dtype` and shape `shape`, from a state `u64[2]`.
    ///
    /// # Errors
    /// When `dtype` is no unsigned integer or the state is of another type.
    pub fn rng_bit_generator(&mut self, state: Value, dtype: DType, shape: impl Into<Shape>) -> Result<(Value, Value)> {
        let results =
            self.emit_all(RngBitGenerator { bits: TensorType::new(dtype, shape), ..Default::default() }, &[state])?;
        match results.as_slice() {
            [next, bits] => Ok((*next, *bits)),
            _ => Err(Diagnostic::bug("`rng_bit_generator` has two results")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::threefry;

    /// Known answers published with the algorithm (Random123, threefry2x32, 20 rounds).
    #[test]
    fn known_answers() {
        assert_eq!(threefry(0, 0), [0x6b20_0159, 0x99ba_4efe]);
        assert_eq!(threefry(u64::MAX, u64::MAX), [0x1cb9_96fc, 0xbb00_2be7]);
        assert_eq!(threefry(0x0370_7344_1319_8a2e, 0x85a3_08d3_243f_6a88), [0xc492_3a9c, 0x483d_f7a0]);
    }
}
