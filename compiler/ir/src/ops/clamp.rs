//! `clamp`.

use super::Direction;
use super::class::{Takes, repeat_scalar, require_elements, zip_numbers};
use super::maximum::maximum;
use super::minimum::minimum;
use super::special::{int_pairs, real_pairs};
use crate::attr::AttrVisitor;
use crate::build::{Builder, present};
use crate::described;
use crate::dims::FactorMap;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity, require_same};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::Id;
use halite_support::Result;
use halite_tensor::{DType, Dims, HostTensor, Shape};
use smallvec::smallvec;

described! {
    /// Element-wise `minimum(maximum(x, low), high)` of tensors of one type. `low` and `high` have the type of `x` or are
    /// scalars. NaN in any operand gives NaN.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Clamp;
}

impl OpDef for Clamp {
    fn name(&self) -> &str {
        "clamp"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [low, x, high] = arity("clamp", args)?;
        require_elements("clamp", Takes::Number, x)?;
        for bound in [low, high] {
            if bound.rank() == 0 {
                require_same("clamp", bound, &x.with_shape(Shape::scalar()))?;
            } else {
                require_same("clamp", bound, x)?;
            }
        }
        Ok(smallvec![x.clone()])
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let (low, high) = (repeated(args[0], args[1].shape()), repeated(args[2], args[1].shape()));
        let raised = zip_numbers(cx, &[args[1], &low], maximum, i128::max);
        Ok(zip_numbers(cx, &[&raised[0], &high], minimum, i128::min))
    }

    /// To `x` strictly between the bounds, to a bound strictly beyond it; none where they are equal or one is NaN.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, low, x, high) = (present(cx.ct())?, cx.args[0], cx.args[1], cx.args[2]);
        let zero = b.splat_like(ct, 0.0)?;
        let (floor, ceiling) = (spread(b, low, x)?, spread(b, high, x)?);
        let dx = cx.want(1, || {
            let above = b.compare(x, floor, Direction::Gt)?;
            let below = b.compare(x, ceiling, Direction::Lt)?;
            let between = b.and(above, below)?;
            b.select(between, ct, zero)
        })?;
        let mut beyond = |bound: Value, all: Value, direction: Direction| {
            let beyond = b.compare(x, all, direction)?;
            let share = b.select(beyond, ct, zero)?;
            gather(b, share, bound)
        };
        let dlow = cx.want(0, || beyond(low, floor, Direction::Lt))?;
        let dhigh = cx.want(2, || beyond(high, ceiling, Direction::Gt))?;
        Ok(Vjp::of([dlow, dx, dhigh]))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::EXACT
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::elementwise(2, args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        FactorMap::elementwise(args, results)
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let (low, high) = (repeat_scalar(cx, args[0])?, repeat_scalar(cx, args[2])?);
        cx.one(|hlo| hlo.clamp(low, args[1], high))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let scalar = |value: f64| SampleArg::listed(float, [], &[value]);
        let uniform = |low: f64, high: f64| SampleArg::uniform(float, [2, 3], low, high);
        let special =
            |args: [SampleArg; 2]| Sample::new("special", Clamp, [scalar(-1.0), args[0].clone(), args[1].clone()]);
        let [x, high] = int_pairs(DType::S32);
        let low = SampleArg::whole(DType::S32, [], -1, 0);
        vec![
            Sample::new("between", Clamp, [uniform(-2.0, -1.0), uniform(-0.9, 0.9), uniform(1.0, 2.0)]),
            Sample::new("below", Clamp, [uniform(0.0, 1.0), uniform(-2.0, -0.1), uniform(1.1, 2.0)]),
            Sample::new("scalar bounds", Clamp, [scalar(-0.5), uniform(-2.0, 2.0), scalar(0.5)]),
            special(real_pairs(float)),
            Sample::new("integers", Clamp, [low, x, high]),
        ]
    }
}

/// A scalar repeated to `shape`; anything else as it is.
fn repeated(bound: &HostTensor, shape: &Shape) -> HostTensor {
    if bound.shape() == shape {
        return bound.clone();
    }
    let bytes = bound.bytes().repeat(shape.num_elements());
    HostTensor::from_bytes(bound.dtype(), shape.clone(), bytes).expect("one element for each position")
}

/// A scalar repeated to the shape of `x`; anything else as it is.
fn spread(b: &mut Builder<'_>, bound: Value, x: Value) -> Result<Value> {
    let shape = b.shape(x).clone();
    if *b.shape(bound) == shape { Ok(bound) } else { b.broadcast_in_dim(bound, &[], shape) }
}

/// The cotangent of `bound` from that of what [`spread`] made of it.
fn gather(b: &mut Builder<'_>, share: Value, bound: Value) -> Result<Value> {
    if b.shape(bound) == b.shape(share) {
        return Ok(share);
    }
    let dims: Dims = (0..b.shape(share).rank()).collect();
    b.reduce_sum(share, &dims)
}

impl Builder<'_> {
    /// `minimum(maximum(x, low), high)`; the bounds may be scalars.
    ///
    /// # Errors
    /// When the types do not fit.
    pub fn clamp(&mut self, low: Value, x: Value, high: Value) -> Result<Value> {
        self.emit(Clamp, &[low, x, high])
    }
}
