//! `atan2`.

use super::class::zip_f64;
use super::elementwise::{Elementwise, Hlo};
use super::special::smooth_and_special;
use crate::build::{Builder, present};
use crate::described;
use crate::interpret::EvalCx;
use crate::op::{Policy, Sample, Vjp, VjpCx};
use crate::syntax::Value;
use halite_hlo::BinaryOp;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

described! {
    /// Element-wise angle in radians of the points `(y, x)`, first operand `x` being the ordinate, in `[-pi, pi]`. Signed
    /// zeros choose the side, as in IEEE 754.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Atan2;
}

impl Elementwise for Atan2 {
    const NAME: &'static str = "atan2";
    const HLO: Hlo = Hlo::Binary(BinaryOp::Atan2);
    const POLICY: Policy = Policy::SENSITIVE;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        zip_f64(cx, args, f64::atan2)
    }

    /// `ct * y / (x^2 + y^2)` and `-ct * x / (x^2 + y^2)`; NaN at the origin, where no direction has a limit.
    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
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

    fn samples(float: DType) -> Vec<Sample> {
        smooth_and_special(Atan2, float, [(-2.0, 2.0), (0.5, 2.0)], 4.0)
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
