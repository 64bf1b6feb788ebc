//! `remainder`.

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

/// Element-wise remainder of the division that truncates toward zero: it has the sign of `x`. Floats are exact. As in
/// XLA, an integer modulo zero is itself.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Remainder;

impl OpDef for Remainder {
    fn name(&self) -> &str {
        "remainder"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        infer_binary("remainder", Takes::Number, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        Ok(zip_numbers(cx, args, |x, y| x % y, |x, y| if y == 0 { x } else { x % y }))
    }

    /// `ct`, and `-ct` times the truncated quotient.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        let (x, y, z) = (cx.args[0], cx.args[1], cx.results[0]);
        let dy = cx.want(1, || {
            let multiple = b.subtract(x, z)?;
            let quotient = b.divide(multiple, y)?;
            let scaled = b.multiply(ct, quotient)?;
            b.negate(scaled)
        })?;
        Ok(Vjp::of([Some(ct), dy]))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::SENSITIVE
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::elementwise(1, args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        FactorMap::elementwise(args, results)
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        cx.one(|hlo| hlo.binary(BinaryOp::Remainder, args[0], args[1]))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let mut samples = vec![
            Sample::new(
                "smooth",
                Remainder,
                [SampleArg::uniform(float, [2, 3], 2.2, 3.8), SampleArg::uniform(float, [2, 3], 1.95, 2.1)],
            ),
            Sample::new("special", Remainder, real_pairs(float)),
        ];
        samples.extend(INTS.map(|dtype| Sample::new(dtype.name(), Remainder, int_pairs(dtype))));
        samples
    }
}

impl Builder<'_> {
    /// Element-wise remainder, with the sign of `x`.
    ///
    /// # Errors
    /// When the types differ or are not numbers.
    pub fn remainder(&mut self, x: Value, y: Value) -> Result<Value> {
        self.emit(Remainder, &[x, y])
    }
}
