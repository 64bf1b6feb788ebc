//! `not`.

use super::class::map_int;
use super::elementwise::{Elementwise, Hlo};
use super::special::{INTS, ints, per_type};
use crate::build::Builder;
use crate::described;
use crate::interpret::EvalCx;
use crate::op::{Policy, Sample, SampleArg, Vjp, VjpCx};
use crate::syntax::Value;
use halite_hlo::UnaryOp;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

described! {
    /// Element-wise bitwise complement of an integer; logical on `pred`.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Not;
}

impl Elementwise for Not {
    const NAME: &'static str = "not";
    const HLO: Hlo = Hlo::Unary(UnaryOp::Not);
    const POLICY: Policy = Policy::INTEGER;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        map_int(cx, args[0], |x| if args[0].dtype() == DType::Pred { 1 - x } else { !x })
    }

    fn vjp(_: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::none("the operand is an integer or a predicate"))
    }

    fn samples(_: DType) -> Vec<Sample> {
        let pred = Sample::new("pred", Not, [SampleArg::listed(DType::Pred, [2], &[0.0, 1.0])]);
        [vec![pred], per_type(Not, &INTS, |dtype| [ints(dtype)])].concat()
    }
}

impl Builder<'_> {
    /// Element-wise complement.
    ///
    /// # Errors
    /// When `x` is a float.
    pub fn not(&mut self, x: Value) -> Result<Value> {
        self.emit(Not, &[x])
    }
}
