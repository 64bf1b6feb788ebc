//! `erf`.

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
use std::f64::consts::FRAC_2_SQRT_PI;

described! {
    /// Element-wise error function of a float, `2 / sqrt(pi)` times the integral of `e^(-t^2)` from 0 to `x`.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Erf;
}

impl Elementwise for Erf {
    const NAME: &'static str = "erf";
    const HLO: Hlo = Hlo::Unary(UnaryOp::Erf);
    const POLICY: Policy = Policy::ELEMENTWISE;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        map_f64(cx, args[0], libm::erf)
    }

    /// `ct * 2 / sqrt(pi) * e^(-x^2)`.
    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, x) = (present(cx.ct())?, cx.args[0]);
        let bell = b.bell(x)?;
        let slope = b.multiply_scalar(bell, FRAC_2_SQRT_PI)?;
        Ok(Vjp::one(b.multiply(ct, slope)?))
    }

    fn samples(float: DType) -> Vec<Sample> {
        smooth_and_special(Erf, float, [(-2.5, 2.5)], 6.0)
    }
}

impl Builder<'_> {
    /// `e^(-x^2)`.
    pub(crate) fn bell(&mut self, x: Value) -> Result<Value> {
        let square = self.multiply(x, x)?;
        let exponent = self.negate(square)?;
        self.exponential(exponent)
    }

    /// Element-wise error function.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn erf(&mut self, x: Value) -> Result<Value> {
        self.emit(Erf, &[x])
    }
}
