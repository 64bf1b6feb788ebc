//! `or`.

use super::class::zip_int;
use super::elementwise::{Elementwise, Hlo};
use super::special::{INTS, int_pairs, per_type, pred_pairs};
use crate::build::Builder;
use crate::described;
use crate::interpret::EvalCx;
use crate::op::{Policy, Sample, Vjp, VjpCx};
use crate::syntax::Value;
use halite_hlo::BinaryOp;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

described! {
    /// Element-wise bitwise `or` of two integers of one type; logical on `pred`.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Or;
}

impl Elementwise for Or {
    const NAME: &'static str = "or";
    const HLO: Hlo = Hlo::Binary(BinaryOp::Or);
    const POLICY: Policy = Policy::INTEGER;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        zip_int(cx, args, |x, y| x | y)
    }

    fn vjp(_: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::none("the operands are integers or predicates"))
    }

    fn samples(_: DType) -> Vec<Sample> {
        [vec![Sample::new("pred", Or, pred_pairs())], per_type(Or, &INTS, int_pairs)].concat()
    }
}

impl Builder<'_> {
    /// Element-wise `or`.
    ///
    /// # Errors
    /// When the types differ or are floats.
    pub fn or(&mut self, x: Value, y: Value) -> Result<Value> {
        self.emit(Or, &[x, y])
    }
}
