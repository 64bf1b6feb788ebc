//! `minimum`.

use super::Direction;
use super::class::{Takes, infer_binary, zip_numbers};
use super::maximum::pick_vjp;
use super::special::{INTS, int_pairs, real_pairs};
use crate::attr::AttrVisitor;
use crate::build::Builder;
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

/// Element-wise smaller of two tensors of one type. NaN in either operand gives NaN; a positive zero is larger than a
/// negative one.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Minimum;

impl OpDef for Minimum {
    fn name(&self) -> &str {
        "minimum"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        infer_binary("minimum", Takes::Number, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        Ok(zip_numbers(cx, args, minimum, i128::min))
    }

    /// Equal operands get half each.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        pick_vjp(b, cx, Direction::Lt)
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
        cx.one(|hlo| hlo.binary(BinaryOp::Minimum, args[0], args[1]))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let mut samples = vec![
            Sample::new(
                "smooth",
                Minimum,
                [SampleArg::uniform(float, [2, 3], -2.0, 0.9), SampleArg::uniform(float, [2, 3], 1.0, 2.0)],
            ),
            Sample::new(
                "swapped",
                Minimum,
                [SampleArg::uniform(float, [2, 3], 1.0, 2.0), SampleArg::uniform(float, [2, 3], -2.0, 0.9)],
            ),
            Sample::new("special", Minimum, real_pairs(float)),
        ];
        samples.extend(INTS.map(|dtype| Sample::new(dtype.name(), Minimum, int_pairs(dtype))));
        samples
    }
}

/// The smaller of two reals, NaN if either is.
pub(super) fn minimum(x: f64, y: f64) -> f64 {
    match x.partial_cmp(&y) {
        None => f64::NAN,
        Some(Ordering::Less) => x,
        Some(Ordering::Greater) => y,
        // Equal reals differ at most in the sign of zero.
        Some(Ordering::Equal) => f64::from_bits(x.to_bits() | y.to_bits()),
    }
}

impl Builder<'_> {
    /// Element-wise smaller of two.
    ///
    /// # Errors
    /// When the types differ or are not numbers.
    pub fn minimum(&mut self, x: Value, y: Value) -> Result<Value> {
        self.emit(Minimum, &[x, y])
    }
}
