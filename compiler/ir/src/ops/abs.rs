//! `abs`.

use super::class::{Takes, infer_unary, map_numbers};
use super::special::{SIGNED_INTS, ints, reals};
use crate::attr::AttrVisitor;
use crate::build::{Builder, present};
use crate::dims::FactorMap;
use crate::interpret::EvalCx;
use crate::lower::LowerCx;
use crate::op::{Cost, Ids, InferCx, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::{Id, UnaryOp};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

/// Element-wise absolute value of a float or a signed integer; the smallest integer is its own.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Abs;

impl OpDef for Abs {
    fn name(&self) -> &str {
        "abs"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        infer_unary("abs", Takes::Signed, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        Ok(map_numbers(cx, args[0], f64::abs, i128::abs))
    }

    /// `ct * sign(x)`: zero at zero.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, x) = (present(cx.ct())?, cx.args[0]);
        let slope = b.sign(x)?;
        Ok(Vjp::one(b.multiply(ct, slope)?))
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
        cx.one(|hlo| hlo.unary(UnaryOp::Abs, args[0]))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let mut samples = vec![
            Sample::new("positive", Abs, [SampleArg::uniform(float, [2, 3], 0.2, 2.0)]),
            Sample::new("negative", Abs, [SampleArg::uniform(float, [2, 3], -2.0, -0.2)]),
            Sample::new("special", Abs, [reals(float)]),
        ];
        samples.extend(SIGNED_INTS.map(|dtype| Sample::new(dtype.name(), Abs, [ints(dtype)])));
        samples
    }
}

impl Builder<'_> {
    /// Element-wise absolute value.
    ///
    /// # Errors
    /// When `x` is unsigned or `pred`.
    pub fn abs(&mut self, x: Value) -> Result<Value> {
        self.emit(Abs, &[x])
    }
}
