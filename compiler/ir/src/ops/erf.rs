//! `erf`.

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
use std::f64::consts::FRAC_2_SQRT_PI;

/// Element-wise error function of a float, `2 / sqrt(pi)` times the integral of `e^(-t^2)` from 0 to `x`.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Erf;

impl OpDef for Erf {
    fn name(&self) -> &str {
        "erf"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        infer_unary("erf", Takes::Float, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        Ok(map_f64(cx, args[0], libm::erf))
    }

    /// `ct * 2 / sqrt(pi) * e^(-x^2)`.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, x) = (present(cx.ct())?, cx.args[0]);
        let square = b.multiply(x, x)?;
        let exponent = b.negate(square)?;
        let bell = b.exponential(exponent)?;
        let slope = b.multiply_scalar(bell, FRAC_2_SQRT_PI)?;
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
        cx.one(|hlo| hlo.unary(UnaryOp::Erf, args[0]))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        vec![
            Sample::new("smooth", Erf, [SampleArg::uniform(float, [2, 3], -2.5, 2.5)]).ulps(6.0),
            Sample::new("special", Erf, [reals(float)]).ulps(6.0),
        ]
    }
}

impl Builder<'_> {
    /// Element-wise error function.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn erf(&mut self, x: Value) -> Result<Value> {
        self.emit(Erf, &[x])
    }
}
