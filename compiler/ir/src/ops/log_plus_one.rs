//! `log_plus_one`.

use super::class::map_f64;
use super::elementwise::{Elementwise, Hlo};
use super::special::smooth_and_special;
use crate::build::{Builder, present};
use crate::described;
use crate::interpret::EvalCx;
use crate::op::{Policy, Sample, SampleArg, Vjp, VjpCx};
use crate::syntax::Value;
use halite_hlo::UnaryOp;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

described! {
    /// Element-wise `ln(1 + x)` of a float, accurate near zero: minus infinity at -1, NaN below.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct LogPlusOne;
}

impl Elementwise for LogPlusOne {
    const NAME: &'static str = "log_plus_one";
    const HLO: Hlo = Hlo::Unary(UnaryOp::LogPlusOne);
    const POLICY: Policy = Policy::SENSITIVE;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        map_f64(cx, args[0], f64::ln_1p)
    }

    /// `ct / (x + 1)`.
    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, x) = (present(cx.ct())?, cx.args[0]);
        let shifted = b.add_scalar(x, 1.0)?;
        Ok(Vjp::one(b.divide(ct, shifted)?))
    }

    fn samples(float: DType) -> Vec<Sample> {
        let small = Sample::new("small", LogPlusOne, [SampleArg::uniform(float, [4], -1e-3, 1e-3)]).ulps(6.0);
        [smooth_and_special(LogPlusOne, float, [(-0.8, 2.0)], 4.0), vec![small]].concat()
    }
}

impl Builder<'_> {
    /// Element-wise `ln(1 + x)`.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn log_plus_one(&mut self, x: Value) -> Result<Value> {
        self.emit(LogPlusOne, &[x])
    }
}
