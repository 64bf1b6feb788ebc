//! `sign`.

use super::class::map_numbers;
use super::elementwise::{Elementwise, Hlo};
use super::special::{SIGNED_INTS, both_signs, ints, per_type};
use crate::build::Builder;
use crate::described;
use crate::interpret::EvalCx;
use crate::op::{Policy, Sample, Vjp, VjpCx};
use crate::syntax::Value;
use halite_hlo::UnaryOp;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

described! {
    /// Element-wise sign of a float or a signed integer: -1, 0 or 1. Zeros keep their sign and NaN stays NaN.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Sign;
}

impl Elementwise for Sign {
    const NAME: &'static str = "sign";
    const HLO: Hlo = Hlo::Unary(UnaryOp::Sign);
    const POLICY: Policy = Policy::EXACT;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        map_numbers(cx, args[0], sign, i128::signum)
    }

    /// Locally constant almost everywhere.
    fn vjp(_: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::zeros(1))
    }

    fn samples(float: DType) -> Vec<Sample> {
        [both_signs(Sign, float), per_type(Sign, &SIGNED_INTS, |dtype| [ints(dtype)])].concat()
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
