//! `sqrt`.

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

/// Element-wise square root of a float: NaN below zero.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Sqrt;

impl OpDef for Sqrt {
    fn name(&self) -> &str {
        "sqrt"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        infer_unary("sqrt", Takes::Float, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        Ok(map_f64(cx, args[0], f64::sqrt))
    }

    /// `(ct / 2) / y`: needs the result only; infinite at zero.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, y) = (present(cx.ct())?, cx.results[0]);
        let half = b.multiply_scalar(ct, 0.5)?;
        Ok(Vjp::one(b.divide(half, y)?))
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
        cx.one(|hlo| hlo.unary(UnaryOp::Sqrt, args[0]))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        vec![
            Sample::new("smooth", Sqrt, [SampleArg::uniform(float, [2, 3], 0.2, 3.0)]),
            Sample::new("special", Sqrt, [reals(float)]),
        ]
    }
}

impl Builder<'_> {
    /// Element-wise square root.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn sqrt(&mut self, x: Value) -> Result<Value> {
        self.emit(Sqrt, &[x])
    }
}
