//! `sine`.

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
    /// Element-wise sine of a float in radians: NaN at infinities.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Sine;
}

impl Elementwise for Sine {
    const NAME: &'static str = "sine";
    const HLO: Hlo = Hlo::Unary(UnaryOp::Sine);
    const POLICY: Policy = Policy::SENSITIVE;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        map_f64(cx, args[0], f64::sin)
    }

    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, x) = (present(cx.ct())?, cx.args[0]);
        let slope = b.cosine(x)?;
        Ok(Vjp::one(b.multiply(ct, slope)?))
    }

    fn samples(float: DType) -> Vec<Sample> {
        smooth_and_special(Sine, float, [(-3.0, 3.0)], 4.0)
    }
}

impl Builder<'_> {
    /// Element-wise sine.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn sine(&mut self, x: Value) -> Result<Value> {
        self.emit(Sine, &[x])
    }
}
