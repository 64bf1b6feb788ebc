//! `log`.

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

/// Element-wise natural logarithm of a float: minus infinity at zero, NaN below.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Log;

impl OpDef for Log {
    fn name(&self) -> &str {
        "log"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        infer_unary("log", Takes::Float, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        Ok(map_f64(cx, args[0], f64::ln))
    }

    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, x) = (present(cx.ct())?, cx.args[0]);
        Ok(Vjp::one(b.divide(ct, x)?))
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
        cx.one(|hlo| hlo.unary(UnaryOp::Log, args[0]))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        vec![
            Sample::new("smooth", Log, [SampleArg::uniform(float, [2, 3], 0.2, 3.0)]).ulps(4.0),
            Sample::new("special", Log, [reals(float)]).ulps(4.0),
        ]
    }
}

impl Builder<'_> {
    /// Element-wise natural logarithm.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn log(&mut self, x: Value) -> Result<Value> {
        self.emit(Log, &[x])
    }
}
