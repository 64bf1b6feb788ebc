//! `atan2`.

use super::class::{Takes, infer_binary, zip_f64};
use super::special::real_pairs;
use crate::attr::AttrVisitor;
use crate::build::{Builder, present};
use crate::dims::FactorMap;
use crate::interpret::EvalCx;
use crate::lower::LowerCx;
use crate::op::{Cost, Ids, InferCx, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::{BinaryOp, Id};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

/// Element-wise angle in radians of the points `(y, x)`, first operand `x` being the ordinate, in `[-pi, pi]`. Signed
/// zeros choose the side, as in IEEE 754.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Atan2;

impl OpDef for Atan2 {
    fn name(&self) -> &str {
        "atan2"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        infer_binary("atan2", Takes::Float, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        Ok(zip_f64(cx, args, f64::atan2))
    }

    /// `ct * y / (x^2 + y^2)` and `-ct * x / (x^2 + y^2)`; NaN at the origin, where no direction has a limit.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        let (x, y) = (cx.args[0], cx.args[1]);
        let (xx, yy) = (b.multiply(x, x)?, b.multiply(y, y)?);
        let square = b.add(xx, yy)?;
        let scaled = b.divide(ct, square)?;
        let dx = cx.want(0, || b.multiply(scaled, y))?;
        let dy = cx.want(1, || {
            let product = b.multiply(scaled, x)?;
            b.negate(product)
        })?;
        Ok(Vjp::of([dx, dy]))
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
        cx.one(|hlo| hlo.binary(BinaryOp::Atan2, args[0], args[1]))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        vec![
            Sample::new(
                "smooth",
                Atan2,
                [SampleArg::uniform(float, [2, 3], -2.0, 2.0), SampleArg::uniform(float, [2, 3], 0.5, 2.0)],
            )
            .ulps(4.0),
            Sample::new("special", Atan2, real_pairs(float)).ulps(4.0),
        ]
    }
}

impl Builder<'_> {
    /// Element-wise angle of the points with ordinates `x` and abscissas `y`.
    ///
    /// # Errors
    /// When the types differ or are not floats.
    pub fn atan2(&mut self, x: Value, y: Value) -> Result<Value> {
        self.emit(Atan2, &[x, y])
    }
}
