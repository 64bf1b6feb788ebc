//! `sign`.

use super::class::{Takes, infer_unary, map_numbers};
use super::special::{SIGNED_INTS, ints, reals};
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

/// Element-wise sign of a float or a signed integer: -1, 0 or 1. Zeros keep their sign and NaN stays NaN.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Sign;

impl OpDef for Sign {
    fn name(&self) -> &str {
        "sign"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        infer_unary("sign", Takes::Signed, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        Ok(map_numbers(cx, args[0], sign, i128::signum))
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
        cx.one(|hlo| hlo.unary(UnaryOp::Sign, args[0]))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let mut samples = vec![
            Sample::new("positive", Sign, [SampleArg::uniform(float, [2, 3], 0.2, 2.0)]),
            Sample::new("negative", Sign, [SampleArg::uniform(float, [2, 3], -2.0, -0.2)]),
            Sample::new("special", Sign, [reals(float)]),
        ];
        samples.extend(SIGNED_INTS.map(|dtype| Sample::new(dtype.name(), Sign, [ints(dtype)])));
        samples
    }
}

/// `f64::signum` with zeros and NaN left alone.
fn sign(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() { x } else { x.signum() }
}

impl Builder<'_> {
    /// Element-wise sign.
    ///
    /// # Errors
    /// When `x` is unsigned or `pred`.
    pub fn sign(&mut self, x: Value) -> Result<Value> {
        self.emit(Sign, &[x])
    }
}
