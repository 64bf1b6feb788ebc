//! `shift_right_logical`.

use super::class::{bits, shift_amount, zip_int};
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
    /// Element-wise shift toward lower bits that brings in zeros. `y` is read as unsigned; shifting by the width or more
    /// gives zero.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct ShiftRightLogical;
}

impl Elementwise for ShiftRightLogical {
    const NAME: &'static str = "shift_right_logical";
    const HLO: Hlo = Hlo::Binary(BinaryOp::ShiftRightLogical);
    const POLICY: Policy = Policy::INTEGER;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        let dtype = args[0].dtype();
        zip_int(cx, args, |x, y| (bits(dtype, x) >> shift_amount(dtype, y)) as i128)
    }

    fn vjp(_: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::none("the operands are integers"))
    }

    fn samples(_: DType) -> Vec<Sample> {
        per_type(ShiftRightLogical, &INTS, int_shifts)
    }
}

impl Builder<'_> {
    /// Element-wise shift toward lower bits, bringing in zeros.
    ///
    /// # Errors
    /// When the types differ or are not integers.
    pub fn shift_right_logical(&mut self, x: Value, y: Value) -> Result<Value> {
        self.emit(ShiftRightLogical, &[x, y])
    }
}
