//! `log`.

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
    /// Element-wise natural logarithm of a float: minus infinity at zero, NaN below.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Log;
}

impl Elementwise for Log {
    const NAME: &'static str = "log";
    const HLO: Hlo = Hlo::Unary(UnaryOp::Log);
    const POLICY: Policy = Policy::SENSITIVE;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        map_f64(cx, args[0], f64::ln)
    }

    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, x) = (present(cx.ct())?, cx.args[0]);
        Ok(Vjp::one(b.divide(ct, x)?))
    }

    fn samples(float: DType) -> Vec<Sample> {
        smooth_and_special(Log, float, [(0.2, 3.0)], 4.0)
    }
}

impl Builder<'_> {
    /// Element-wise natural logarithm.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn log(&mut self, x: Value) -> Result<Value> {
        self.emit(Log, &[x])
    }
}
