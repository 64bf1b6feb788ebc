//! `round_nearest_even`.

use super::class::map_f64;
use super::elementwise::{Elementwise, Hlo};
use super::special::{smooth_and_special, ties};
use crate::build::Builder;
use crate::described;
use crate::interpret::EvalCx;
use crate::op::{Policy, Sample, Vjp, VjpCx};
use crate::syntax::Value;
use halite_hlo::UnaryOp;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

described! {
    /// Element-wise nearest whole number of a float; of two equally near ones the even one.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct RoundNearestEven;
}

impl Elementwise for RoundNearestEven {
    const NAME: &'static str = "round_nearest_even";
    const HLO: Hlo = Hlo::Unary(UnaryOp::RoundNearestEven);
    const POLICY: Policy = Policy::EXACT;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        map_f64(cx, args[0], f64::round_ties_even)
    }

    /// Locally constant almost everywhere.
    fn vjp(_: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::zeros(1))
    }

    fn samples(float: DType) -> Vec<Sample> {
        [
            smooth_and_special(RoundNearestEven, float, [(0.6, 1.4)], 0.0),
            vec![Sample::new("ties", RoundNearestEven, [ties(float)])],
        ]
        .concat()
    }
}

impl Builder<'_> {
    /// Element-wise rounding, ties to even.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn round_nearest_even(&mut self, x: Value) -> Result<Value> {
        self.emit(RoundNearestEven, &[x])
    }
}
