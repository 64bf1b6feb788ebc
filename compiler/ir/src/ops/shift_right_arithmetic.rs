//! `shift_right_arithmetic`.

use super::class::{shift_amount, sign_extend, zip_int};
use super::elementwise::{Elementwise, Hlo};
use super::special::{INTS, int_shifts, per_type};
use crate::build::Builder;
use crate::described;
use crate::interpret::EvalCx;
use crate::op::{Policy, Sample, Vjp, VjpCx};
use crate::syntax::Value;
use halite_hlo::BinaryOp;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

described! {
    /// Element-wise shift toward lower bits that repeats the highest bit, also of unsigned integers. `y` is read as
    /// unsigned; shifting by the width or more leaves copies of the highest bit.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct ShiftRightArithmetic;
}

impl Elementwise for ShiftRightArithmetic {
    const NAME: &'static str = "shift_right_arithmetic";
    const HLO: Hlo = Hlo::Binary(BinaryOp::ShiftRightArithmetic);
    const POLICY: Policy = Policy::INTEGER;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        let dtype = args[0].dtype();
        zip_int(cx, args, |x, y| sign_extend(dtype, x) >> shift_amount(dtype, y))
    }

    fn vjp(_: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::none("the operands are integers"))
    }

    fn samples(_: DType) -> Vec<Sample> {
        per_type(ShiftRightArithmetic, &INTS, int_shifts)
    }
}

impl Builder<'_> {
    /// Element-wise shift toward lower bits, repeating the highest.
    ///
    /// # Errors
    /// When the types differ or are not integers.
    pub fn shift_right_arithmetic(&mut self, x: Value, y: Value) -> Result<Value> {
        self.emit(ShiftRightArithmetic, &[x, y])
    }
}
