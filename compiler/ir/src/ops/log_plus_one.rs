//! `log_plus_one`.

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

/// Element-wise `ln(1 + x)` of a float, accurate near zero: minus infinity at -1, NaN below.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct LogPlusOne;

impl OpDef for LogPlusOne {
    fn name(&self) -> &str {
        "log_plus_one"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        infer_unary("log_plus_one", Takes::Float, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        Ok(map_f64(cx, args[0], f64::ln_1p))
    }

    /// `ct / (x + 1)`.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, x) = (present(cx.ct())?, cx.args[0]);
        let shifted = b.add_scalar(x, 1.0)?;
        Ok(Vjp::one(b.divide(ct, shifted)?))
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
        cx.one(|hlo| hlo.unary(UnaryOp::LogPlusOne, args[0]))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        vec![
            Sample::new("smooth", LogPlusOne, [SampleArg::uniform(float, [2, 3], -0.8, 2.0)]).ulps(4.0),
            Sample::new("special", LogPlusOne, [reals(float)]).ulps(4.0),
            Sample::new("small", LogPlusOne, [SampleArg::uniform(float, [4], -1e-3, 1e-3)]).ulps(6.0),
        ]
    }
}

impl Builder<'_> {
    /// Element-wise `ln(1 + x)`.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn log_plus_one(&mut self, x: Value) -> Result<Value> {
        self.emit(LogPlusOne, &[x])
    }
}
