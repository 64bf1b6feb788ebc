//! `abs`.

use super::class::map_numbers;
use super::elementwise::{Elementwise, Hlo};
use super::special::{SIGNED_INTS, both_signs, ints, per_type};
use crate::build::{Builder, present};
use crate::described;
use crate::interpret::EvalCx;
use crate::op::{Policy, Sample, Vjp, VjpCx};
use crate::syntax::Value;
use halite_hlo::UnaryOp;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

described! {
    /// Element-wise absolute value of a float or a signed integer; the smallest integer is its own.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Abs;
}

impl Elementwise for Abs {
    const NAME: &'static str = "abs";
    const HLO: Hlo = Hlo::Unary(UnaryOp::Abs);
    const POLICY: Policy = Policy::EXACT;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        map_numbers(cx, args[0], f64::abs, i128::abs)
    }

    /// `ct * sign(x)`: zero at zero.
    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, x) = (present(cx.ct())?, cx.args[0]);
        let slope = b.sign(x)?;
        Ok(Vjp::one(b.multiply(ct, slope)?))
    }

    fn samples(float: DType) -> Vec<Sample> {
        [both_signs(Abs, float), per_type(Abs, &SIGNED_INTS, |dtype| [ints(dtype)])].concat()
    }
}

impl Builder<'_> {
    /// Element-wise absolute value.
    ///
    /// # Errors
    /// When `x` is unsigned or `pred`.
    pub fn abs(&mut self, x: Value) -> Result<Value> {
        self.emit(Abs, &[x])
    }
}
