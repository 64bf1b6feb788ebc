//! `maximum`.

use super::Direction;
use super::class::{Takes, infer_binary, zip_numbers};
use super::special::{INTS, int_pairs, real_pairs};
use crate::attr::AttrVisitor;
use crate::build::{Builder, present};
use crate::dims::FactorMap;
use crate::interpret::EvalCx;
use crate::lower::LowerCx;
use crate::op::{Cost, Ids, InferCx, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::{BinaryOp, Id};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};
use std::cmp::Ordering;

/// Element-wise larger of two tensors of one type. NaN in either operand gives NaN; a positive zero is larger than a
/// negative one.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Maximum;

impl OpDef for Maximum {
    fn name(&self) -> &str {
        "maximum"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        infer_binary("maximum", Takes::Number, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        Ok(zip_numbers(cx, args, maximum, i128::max))
    }

    /// Equal operands get half each.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        pick_vjp(b, cx, Direction::Gt)
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::EXACT
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::elementwise(1, args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        FactorMap::elementwise(args, results)
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        cx.one(|hlo| hlo.binary(BinaryOp::Maximum, args[0], args[1]))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let mut samples = vec![
            Sample::new(
                "smooth",
                Maximum,
                [SampleArg::uniform(float, [2, 3], -2.0, 0.9), SampleArg::uniform(float, [2, 3], 1.0, 2.0)],
            ),
            Sample::new(
                "swapped",
                Maximum,
                [SampleArg::uniform(float, [2, 3], 1.0, 2.0), SampleArg::uniform(float, [2, 3], -2.0, 0.9)],
            ),
            Sample::new("special", Maximum, real_pairs(float)),
        ];
        samples.extend(INTS.map(|dtype| Sample::new(dtype.name(), Maximum, int_pairs(dtype))));
        samples
    }
}

/// The larger of two reals, NaN if either is.
pub(super) fn maximum(x: f64, y: f64) -> f64 {
    match x.partial_cmp(&y) {
        None => f64::NAN,
        Some(Ordering::Greater) => x,
        Some(Ordering::Less) => y,
        // Equal reals differ at most in the sign of zero.
        Some(Ordering::Equal) => f64::from_bits(x.to_bits() & y.to_bits()),
    }
}

/// The cotangents of an op that picks one of its operands: all to `x` where it compares as `wins` with `y`, all to `y`
/// where `y` does, half to each where they are equal, none where one is NaN.
pub(super) fn pick_vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>, wins: Direction) -> Result<Vjp> {
    let (ct, x, y) = (present(cx.ct())?, cx.args[0], cx.args[1]);
    let zero = b.splat_like(ct, 0.0)?;
    let half = b.multiply_scalar(ct, 0.5)?;
    let equal = b.compare(x, y, Direction::Eq)?;
    let shared = b.select(equal, half, zero)?;
    let mut share = |own: Value, other: Value| {
        let picked = b.compare(own, other, wins)?;
        b.select(picked, ct, shared)
    };
    let dx = cx.want(0, || share(x, y))?;
    let dy = cx.want(1, || share(y, x))?;
    Ok(Vjp::of([dx, dy]))
}

impl Builder<'_> {
    /// Element-wise larger of two.
    ///
    /// # Errors
    /// When the types differ or are not numbers.
    pub fn maximum(&mut self, x: Value, y: Value) -> Result<Value> {
        self.emit(Maximum, &[x, y])
    }
}
