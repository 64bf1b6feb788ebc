//! `tan`.

use super::class::map_f64;
use super::elementwise::{Elementwise, Hlo};
use super::special::smooth_and_special;
use crate::build::{Builder, present};
use crate::described;
use crate::interpret::EvalCx;
use crate::op::{Policy, Sample, Vjp, VjpCx};
use crate::syntax::Value;
use halite_hlo::UnaryOp;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

described! {
    /// Element-wise tangent of a float in radians: NaN at infinities.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Tan;
}

impl Elementwise for Tan {
    const NAME: &'static str = "tan";
    const HLO: Hlo = Hlo::Unary(UnaryOp::Tan);
    const POLICY: Policy = Policy::SENSITIVE;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        map_f64(cx, args[0], f64::tan)
    }

    /// `ct * (y * y + 1)`: needs the result only.
    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, y) = (present(cx.ct())?, cx.results[0]);
        let square = b.multiply(y, y)?;
        let slope = b.add_scalar(square, 1.0)?;
        Ok(Vjp::one(b.multiply(ct, slope)?))
    }

    fn samples(float: DType) -> Vec<Sample> {
        smooth_and_special(Tan, float, [(-1.2, 1.2)], 4.0)
    }
}

impl Builder<'_> {
    /// Element-wise tangent.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn tan(&mut self, x: Value) -> Result<Value> {
        self.emit(Tan, &[x])
    }
}
