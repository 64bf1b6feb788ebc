//! `logistic`.

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
    /// Element-wise `1 / (1 + e^-x)` of a float.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Logistic;
}

impl Elementwise for Logistic {
    const NAME: &'static str = "logistic";
    const HLO: Hlo = Hlo::Unary(UnaryOp::Logistic);
    const POLICY: Policy = Policy::ELEMENTWISE;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        map_f64(cx, args[0], |x| 1.0 / (1.0 + (-x).exp()))
    }

    /// `ct * y * (1 - y)`: needs the result only.
    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, y) = (present(cx.ct())?, cx.results[0]);
        let rest = b.subtract_from(1.0, y)?;
        let slope = b.multiply(y, rest)?;
        Ok(Vjp::one(b.multiply(ct, slope)?))
    }

    fn samples(float: DType) -> Vec<Sample> {
        smooth_and_special(Logistic, float, [(-3.0, 3.0)], 4.0)
    }
}

impl Builder<'_> {
    /// Element-wise logistic function, `1 / (1 + e^-x)`.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn logistic(&mut self, x: Value) -> Result<Value> {
        self.emit(Logistic, &[x])
    }
}
