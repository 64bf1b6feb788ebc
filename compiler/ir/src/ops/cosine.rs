//! `cosine`.

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
    /// Element-wise cosine of a float in radians: NaN at infinities.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Cosine;
}

impl Elementwise for Cosine {
    const NAME: &'static str = "cosine";
    const HLO: Hlo = Hlo::Unary(UnaryOp::Cosine);
    const POLICY: Policy = Policy::SENSITIVE;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        map_f64(cx, args[0], f64::cos)
    }

    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, x) = (present(cx.ct())?, cx.args[0]);
        let sine = b.sine(x)?;
        let slope = b.negate(sine)?;
        Ok(Vjp::one(b.multiply(ct, slope)?))
    }

    fn samples(float: DType) -> Vec<Sample> {
        smooth_and_special(Cosine, float, [(-3.0, 3.0)], 4.0)
    }
}

impl Builder<'_> {
    /// Element-wise cosine.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn cosine(&mut self, x: Value) -> Result<Value> {
        self.emit(Cosine, &[x])
    }
}
