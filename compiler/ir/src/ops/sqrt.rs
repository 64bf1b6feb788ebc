//! `sqrt`.

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
    /// Element-wise square root of a float: NaN below zero.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Sqrt;
}

impl Elementwise for Sqrt {
    const NAME: &'static str = "sqrt";
    const HLO: Hlo = Hlo::Unary(UnaryOp::Sqrt);
    const POLICY: Policy = Policy::ELEMENTWISE;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        map_f64(cx, args[0], f64::sqrt)
    }

    /// `(ct / 2) / y`: needs the result only; infinite at zero.
    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, y) = (present(cx.ct())?, cx.results[0]);
        let half = b.multiply_scalar(ct, 0.5)?;
        Ok(Vjp::one(b.divide(half, y)?))
    }

    fn samples(float: DType) -> Vec<Sample> {
        smooth_and_special(Sqrt, float, [(0.2, 3.0)], 0.0)
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
