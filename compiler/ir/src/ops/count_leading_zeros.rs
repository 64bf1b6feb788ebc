//! `count_leading_zeros`.

use super::class::{bits, map_int};
use super::elementwise::{Elementwise, Hlo};
use super::special::{INTS, ints, per_type};
use crate::build::Builder;
use crate::described;
use crate::interpret::EvalCx;
use crate::op::{Policy, Sample, Vjp, VjpCx};
use crate::syntax::Value;
use halite_hlo::UnaryOp;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

described! {
    /// Element-wise number of zeros before the highest bit set in an integer; its width for zero.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct CountLeadingZeros;
}

impl Elementwise for CountLeadingZeros {
    const NAME: &'static str = "count_leading_zeros";
    const HLO: Hlo = Hlo::Unary(UnaryOp::CountLeadingZeros);
    const POLICY: Policy = Policy::INTEGER;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        let dtype = args[0].dtype();
        map_int(cx, args[0], |x| i128::from(bits(dtype, x).leading_zeros() + dtype.bits() - u128::BITS))
    }

    fn vjp(_: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::none("the operand is an integer"))
    }

    fn samples(_: DType) -> Vec<Sample> {
        per_type(CountLeadingZeros, &INTS, |dtype| [ints(dtype)])
    }
}

impl Builder<'_> {
    /// Element-wise number of zeros before the highest bit set.
    ///
    /// # Errors
    /// When `x` is not an integer.
    pub fn count_leading_zeros(&mut self, x: Value) -> Result<Value> {
        self.emit(CountLeadingZeros, &[x])
    }
}
