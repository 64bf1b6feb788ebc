//! `exponential_minus_one`.

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
    /// Element-wise `e^x - 1` of a float, accurate near zero.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct ExponentialMinusOne;
}

impl Elementwise for ExponentialMinusOne {
    const NAME: &'static str = "exponential_minus_one";
    const HLO: Hlo = Hlo::Unary(UnaryOp::ExponentialMinusOne);
    const POLICY: Policy = Policy::SENSITIVE;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        map_f64(cx, args[0], f64::exp_m1)
    }

    /// `ct * (y + 1)`: needs the result only.
    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, y) = (present(cx.ct())?, cx.results[0]);
        let slope = b.add_scalar(y, 1.0)?;
        Ok(Vjp::one(b.multiply(ct, slope)?))
    }

    fn samples(float: DType) -> Vec<Sample> {
        let small = Sample::new("small", ExponentialMinusOne, [SampleArg::uniform(float, [4], -1e-3, 1e-3)]).ulps(6.0);
        [smooth_and_special(ExponentialMinusOne, float, [(-2.0, 2.0)], 4.0), vec![small]].concat()
    }
}

impl Builder<'_> {
    /// Element-wise `e^x - 1`.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn exponential_minus_one(&mut self, x: Value) -> Result<Value> {
        self.emit(ExponentialMinusOne, &[x])
    }
}
