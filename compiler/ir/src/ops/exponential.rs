//! `exponential`.

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
    /// Element-wise `e^x` of a float; the result has the operand's type.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Exponential;
}

impl Elementwise for Exponential {
    const NAME: &'static str = "exponential";
    const HLO: Hlo = Hlo::Unary(UnaryOp::Exponential);
    const POLICY: Policy = Policy::SENSITIVE;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        map_f64(cx, args[0], f64::exp)
    }

    /// `ct * y`: needs the result only.
    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, y) = (present(cx.ct())?, cx.results[0]);
        Ok(Vjp::one(b.multiply(ct, y)?))
    }

    fn samples(float: DType) -> Vec<Sample> {
        smooth_and_special(Exponential, float, [(-3.0, 3.0)], 4.0)
    }
}

impl Builder<'_> {
    /// Element-wise `e^x`.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn exponential(&mut self, x: Value) -> Result<Value> {
        self.emit(Exponential, &[x])
    }
}
