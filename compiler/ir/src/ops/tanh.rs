//! `tanh`.

use super::class::{Takes, infer_unary, map_f64};
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

/// Element-wise hyperbolic tangent of a float; the result has the operand's type.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Tanh;

impl OpDef for Tanh {
    fn name(&self) -> &str {
        "tanh"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        infer_unary("tanh", Takes::Float, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        Ok(map_f64(cx, args[0], f64::tanh))
    }

    /// `ct * (1 - y * y)`: needs the result only.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, y) = (present(cx.ct())?, cx.results[0]);
        let one = b.splat_like(y, 1.0)?;
        let square = b.multiply(y, y)?;
        let slope = b.subtract(one, square)?;
        Ok(Vjp::one(b.multiply(ct, slope)?))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::ELEMENTWISE
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::elementwise(1, args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        FactorMap::elementwise(args, results)
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        cx.one(|hlo| hlo.unary(UnaryOp::Tanh, args[0]))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        vec![
            Sample::new("smooth", Tanh, [SampleArg::uniform(float, [3, 5], -3.0, 3.0)]).ulps(8.0),
            Sample::new("special", Tanh, [SampleArg::listed(float, [4], &[0.0, -0.0, 20.0, -1e-5])]).ulps(8.0),
        ]
    }
}

impl Builder<'_> {
    /// Element-wise hyperbolic tangent.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn tanh(&mut self, x: Value) -> Result<Value> {
        self.emit(Tanh, &[x])
    }
}
