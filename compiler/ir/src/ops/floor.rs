//! `floor`.

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
    /// Element-wise largest whole number that is not above a float.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Floor;
}

impl Elementwise for Floor {
    const NAME: &'static str = "floor";
    const HLO: Hlo = Hlo::Unary(UnaryOp::Floor);
    const POLICY: Policy = Policy::EXACT;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        map_f64(cx, args[0], f64::floor)
    }

    /// Locally constant almost everywhere.
    fn vjp(_: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::zeros(1))
    }

    fn samples(float: DType) -> Vec<Sample> {
        [smooth_and_special(Floor, float, [(1.1, 1.9)], 0.0), vec![Sample::new("ties", Floor, [ties(float)])]].concat()
    }
}

impl Builder<'_> {
    /// Element-wise rounding down.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn floor(&mut self, x: Value) -> Result<Value> {
        self.emit(Floor, &[x])
    }
}
