//! `ceil`.

use super::class::{Takes, infer_unary, map_f64};
use super::special::reals;
use crate::attr::AttrVisitor;
use crate::build::Builder;
use crate::dims::FactorMap;
use crate::interpret::EvalCx;
use crate::lower::LowerCx;
use crate::op::{Cost, Ids, InferCx, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::{Id, UnaryOp};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

/// Element-wise smallest whole number that is not below a float.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Ceil;

impl OpDef for Ceil {
    fn name(&self) -> &str {
        "ceil"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        infer_unary("ceil", Takes::Float, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        Ok(map_f64(cx, args[0], f64::ceil))
    }

    /// Locally constant almost everywhere.
    fn vjp(&self, _: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::zeros(1))
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
        cx.one(|hlo| hlo.unary(UnaryOp::Ceil, args[0]))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        vec![
            Sample::new("smooth", Ceil, [SampleArg::uniform(float, [2, 3], 1.1, 1.9)]),
            Sample::new("special", Ceil, [reals(float)]),
            Sample::new(
                "ties",
                Ceil,
                [SampleArg::listed(float, [9], &[0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.498, 1.502, -0.502])],
            ),
        ]
    }
}

impl Builder<'_> {
    /// Element-wise rounding up.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn ceil(&mut self, x: Value) -> Result<Value> {
        self.emit(Ceil, &[x])
    }
}
