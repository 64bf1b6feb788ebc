//! `logistic`.

use super::class::{Takes, infer_unary, map_f64};
use super::special::reals;
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

/// Element-wise `1 / (1 + e^-x)` of a float.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Logistic;

impl OpDef for Logistic {
    fn name(&self) -> &str {
        "logistic"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        infer_unary("logistic", Takes::Float, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        Ok(map_f64(cx, args[0], |x| 1.0 / (1.0 + (-x).exp())))
    }

    /// `ct * y * (1 - y)`: needs the result only.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, y) = (present(cx.ct())?, cx.results[0]);
        let rest = b.subtract_from(1.0, y)?;
        let slope = b.multiply(y, rest)?;
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
        cx.one(|hlo| hlo.unary(UnaryOp::Logistic, args[0]))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        vec![
            Sample::new("smooth", Logistic, [SampleArg::uniform(float, [2, 3], -3.0, 3.0)]).ulps(4.0),
            Sample::new("special", Logistic, [reals(float)]).ulps(4.0),
        ]
    }
}

impl Builder<'_> {
    /// Element-wise logistic function, `1 / (1 + e^-x)`.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn logistic(&mut self, x: Value) -> Result<Value> {
        self.emit(Logistic, &[x])
    }
}
