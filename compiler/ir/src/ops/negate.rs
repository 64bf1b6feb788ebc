//! `negate`.

use super::class::map_numbers;
use super::elementwise::{Elementwise, Hlo};
use super::special::{INTS, ints, per_type, smooth_and_special};
use crate::build::{Builder, present};
use crate::described;
use crate::interpret::EvalCx;
use crate::op::{Policy, Sample, Vjp, VjpCx};
use crate::shards::Linear;
use crate::syntax::Value;
use halite_hlo::UnaryOp;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

described! {
    /// Element-wise negation; integers wrap, unsigned ones included.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Negate;
}

impl Elementwise for Negate {
    const NAME: &'static str = "negate";
    const HLO: Hlo = Hlo::Unary(UnaryOp::Negate);
    const POLICY: Policy = Policy::EXACT;

    const LINEAR: Linear = Linear::Jointly;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        map_numbers(cx, args[0], |x| -x, |x| -x)
    }

    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        Ok(Vjp::one(b.negate(ct)?))
    }

    fn samples(float: DType) -> Vec<Sample> {
        [smooth_and_special(Negate, float, [(-2.0, 2.0)], 0.0), per_type(Negate, &INTS, |dtype| [ints(dtype)])].concat()
    }
}

impl Builder<'_> {
    /// Element-wise negation.
    ///
    /// # Errors
    /// When `x` is `pred`.
    pub fn negate(&mut self, x: Value) -> Result<Value> {
        self.emit(Negate, &[x])
    }
}
