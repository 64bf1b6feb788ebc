//! `sort_pairs`.

use crate::attrs::{AttrKey, AttrSpec, Attrs};
use crate::build::{Builder, Values};
use crate::composite::{CompositeDef, VjpRule};
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg, Vjp, shape_error};
use crate::operands::{Args, Operands};
use crate::ops::class::{Takes, infer_unary};
use crate::ops::{Direction, Pad};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::{DType, HostTensor, Shape};
use smallvec::smallvec;

/// The dimension that is sorted.
pub static DIM: AttrKey<i64> =
    AttrKey::optional("dim", -1, "the dimension that is sorted; negative counts from the end");
/// Whether the largest element comes first.
pub static DESCENDING: AttrKey<bool> = AttrKey::refinement("descending", false, "put the largest element first");

described! {
    /// The elements along one dimension in order, and their positions as `s32`. Equal elements keep their order, NaN comes last, and
    /// first where the order is descending. The decomposition is a bitonic network (Batcher 1968): for `n` elements some
    /// `log2(n)^2 / 2` steps of some 20 instructions each, which need nothing of a target but comparisons and choices.
    #[derive(Debug)]
    pub struct SortPairs;
}

/// Elements with their positions; `n` along `dim`, a power of two.
#[derive(Clone, Copy)]
struct Pairs {
    values: Value,
    positions: Value,
    dim: usize,
}

impl Pairs {
    /// The two halves of each block of `2 * distance` elements: the dimension becomes blocks, side and place.
    fn halves(self, b: &mut Builder<'_>, distance: usize) -> Result<[[Value; 2]; 2]> {
        let mut split = |x: Value| -> Result<[Value; 2]> {
            let size = b.shape(x)[self.dim];
            let blocks = with_dim(b.shape(x), self.dim, &[size / (2 * distance), 2, distance]);
            let x = b.reshape(x, blocks)?;
            let side = |b: &mut Builder<'_>, at: usize| b.slice_dim(x, self.dim + 1, at, at + 1);
            Ok([side(b, 0)?, side(b, 1)?])
        };
        let ([low, high], [low_at, high_at]) = (split(self.values)?, split(self.positions)?);
        Ok([[low, low_at], [high, high_at]])
    }

    /// Puts each two elements `distance` apart in order: increasing in the even blocks of `length`, decreasing in the odd ones.
    fn exchange(self, b: &mut Builder<'_>, length: usize, distance: usize, descending: bool) -> Result<Self> {
        let shape = b.shape(self.values).clone();
        let [[low, low_at], [high, high_at]] = self.halves(b, distance)?;
        let halves = b.shape(low).clone();
        let turned = b.iota(DType::S32, halves.clone(), self.dim)?;
        // The number of a block of `2 * distance` elements tells that of the block of `length` that it lies in.
        let ratio = b.splat(DType::S32, halves.clone(), (length / (2 * distance)) as f64)?;
        let block = b.divide(turned, ratio)?;
        let two = b.splat(DType::S32, halves.clone(), 2.0)?;
        let parity = b.remainder(block, two)?;
        let zero = b.splat(DType::S32, halves, 0.0)?;
        let odd = b.compare(parity, zero, Direction::Ne)?;
        let after = follows(b, [low, low_at], [high, high_at], descending)?;
        let swap = b.xor(after, odd)?;
        let mut join = |low: Value, high: Value| -> Result<Value> {
            let (first, second) = (b.select(swap, high, low)?, b.select(swap, low, high)?);
            let joined = b.concatenate(&[first, second], self.dim + 1)?;
            b.reshape(joined, shape.clone())
        };
        Ok(Self { values: join(low, high)?, positions: join(low_at, high_at)?, ..self })
    }
}

/// Whether the first pair comes after the second one.
fn follows(b: &mut Builder<'_>, [x, x_at]: [Value; 2], [y, y_at]: [Value; 2], descending: bool) -> Result<Value> {
    let (is_beyond, is_before) = (beyond(b, x, y, descending)?, beyond(b, y, x, descending)?);
    let later = b.compare(x_at, y_at, Direction::Gt)?;
    let not_before = b.not(is_before)?;
    let tie = b.and(not_before, later)?;
    b.or(is_beyond, tie)
}

/// Whether `x` comes after `y` by its value alone; NaN is larger than all else.
fn beyond(b: &mut Builder<'_>, x: Value, y: Value, descending: bool) -> Result<Value> {
    let (large, small) = if descending { (y, x) } else { (x, y) };
    let greater = b.compare(large, small, Direction::Gt)?;
    if !b.dtype(x).is_float() {
        return Ok(greater);
    }
    let (large_is_nan, small_is_number) =
        (b.compare(large, large, Direction::Ne)?, b.compare(small, small, Direction::Eq)?);
    let nan = b.and(large_is_nan, small_is_number)?;
    b.or(greater, nan)
}

/// A shape with these sizes in place of one dimension.
fn with_dim(shape: &Shape, dim: usize, sizes: &[usize]) -> Shape {
    shape[..dim].iter().chain(sizes).chain(&shape[dim + 1..]).copied().collect()
}

/// `x` filled up to `full` elements along a dimension with what comes last.
fn filled(b: &mut Builder<'_>, x: Value, dim: usize, full: usize, descending: bool) -> Result<Value> {
    let (dtype, size) = (b.dtype(x), b.shape(x)[dim]);
    if full == size {
        return Ok(x);
    }
    let last = match dtype.int_range() {
        Some((low, high)) => HostTensor::from_ints(dtype, [], [if descending { low } else { high }]),
        None => HostTensor::from_f64s(dtype, [], [if descending { f64::NEG_INFINITY } else { f64::NAN }]),
    };
    let last = b.constant(last)?;
    let mut pad = Pad::none(b.shape(x).rank());
    pad.high[dim] = (full - size) as i64;
    b.emit(pad, &[x, last])
}

impl CompositeDef for SortPairs {
    fn name(&self) -> &str {
        "sort_pairs"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![DIM.spec(), DESCENDING.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, attrs: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let mut types = infer_unary("sort_pairs", Takes::Number, args[0])?;
        let dim = attrs.dim(&DIM, args[0])?;
        if i32::try_from(args[0].shape()[dim]).is_err() {
            return Err(shape_error(format!("`sort_pairs` cannot count the elements of `{}` in `s32`", args[0])));
        }
        types.push(TensorType::new(DType::S32, args[0].shape().clone()));
        Ok(types)
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let (dim, descending) = (attrs.dim(&DIM, b.ty(args[0]))?, attrs.get(&DESCENDING)?);
        let size = b.shape(args[0])[dim];
        let full = size.next_power_of_two();
        let values = filled(b, args[0], dim, full, descending)?;
        let positions = b.iota(DType::S32, b.shape(values).clone(), dim)?;
        let mut pairs = Pairs { values, positions, dim };
        let mut length = 2;
        while length <= full {
            let mut distance = length / 2;
            while distance > 0 {
                pairs = pairs.exchange(b, length, distance, descending)?;
                distance /= 2;
            }
            length *= 2;
        }
        Ok(smallvec![b.slice_dim(pairs.values, dim, 0, size)?, b.slice_dim(pairs.positions, dim, 0, size)?])
    }

    /// The gradient of reading the elements at the positions, which do not move with small changes.
    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(Box::new(|b, attrs, cx| {
            let Some(ct) = cx.cts[0] else { return Ok(Vjp::zeros(1)) };
            let dim = attrs.dim(&DIM, b.ty(cx.args[0]))?;
            let size = b.shape(cx.args[0])[dim];
            Ok(Vjp::one(b.take_along_axis_grad(ct, cx.results[1], dim, size)?))
        }))
    }

    fn policy(&self) -> Policy {
        Policy::STORAGE
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let sort = |dim: i64, down: bool| super::op(&SortPairs, &[DIM.to(dim), DESCENDING.to(down)]);
        let odd = [0.0, f64::NAN, 2.0, -0.0, f64::INFINITY, 2.0, f64::NEG_INFINITY];
        let listed = || [SampleArg::listed(float, [7], &odd)];
        vec![
            Sample::new("last", sort(-1, false), [SampleArg::uniform(float, [3, 8], -1.0, 1.0)]),
            Sample::new("first, descending", sort(0, true), [SampleArg::uniform(float, [5, 2], -1.0, 1.0)]),
            Sample::new("special", sort(0, false), listed()),
            Sample::new("special, descending", sort(0, true), listed()),
            Sample::new("integers", sort(1, false), [SampleArg::whole(DType::S32, [2, 6], -3, 3)]),
            Sample::new("one element", sort(1, true), [SampleArg::uniform(float, [3, 1], -1.0, 1.0)]),
        ]
    }
}
