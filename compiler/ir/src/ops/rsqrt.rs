//! `rsqrt`.

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

/// Element-wise reciprocal square root of a float: infinite at zero, with its sign, NaN below.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Rsqrt;

impl OpDef for Rsqrt {
    fn name(&self) -> &str {
        "rsqrt"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        infer_unary("rsqrt", Takes::Float, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        Ok(map_f64(cx, args[0], |x| x.sqrt().recip()))
    }

    /// `-ct / 2 * y^3`: needs the result only; infinite at zero and zero at infinity, never NaN for a finite cotangent.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, y) = (present(cx.ct())?, cx.results[0]);
        let square = b.multiply(y, y)?;
        let cube = b.multiply(square, y)?;
        let slope = b.multiply_scalar(cube, -0.5)?;
        Ok(Vjp::one(b.multiply(ct, slope)?))
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
        cx.one(|hlo| hlo.unary(UnaryOp::Rsqrt, args[0]))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        vec![
            Sample::new("smooth", Rsqrt, [SampleArg::uniform(float, [2, 3], 0.2, 3.0)]).ulps(4.0),
            Sample::new("special", Rsqrt, [reals(float)]).ulps(4.0),
        ]
    }
}

impl Builder<'_> {
    /// Element-wise `1 / sqrt(x)`.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn rsqrt(&mut self, x: Value) -> Result<Value> {
        self.emit(Rsqrt, &[x])
    }
}
