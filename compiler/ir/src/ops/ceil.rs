//! `ceil`.

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
    /// Element-wise smallest whole number that is not below a float.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Ceil;
}

impl Elementwise for Ceil {
    const NAME: &'static str = "ceil";
    const HLO: Hlo = Hlo::Unary(UnaryOp::Ceil);
    const POLICY: Policy = Policy::EXACT;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        map_f64(cx, args[0], f64::ceil)
    }

    /// Locally constant almost everywhere.
    fn vjp(_: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::zeros(1))
    }

    fn samples(float: DType) -> Vec<Sample> {
        [smooth_and_special(Ceil, float, [(1.1, 1.9)], 0.0), vec![Sample::new("ties", Ceil, [ties(float)])]].concat()
    }
}

impl Builder<'_> {
    /// Element-wise rounding up.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn ceil(&mut self, x: Value) -> Result<Value> {
        self.emit(Ceil, &[x])
    }
}
