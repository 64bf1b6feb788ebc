//! `popcnt`.

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
    /// Element-wise number of bits set in an integer.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Popcnt;
}

impl Elementwise for Popcnt {
    const NAME: &'static str = "popcnt";
    const HLO: Hlo = Hlo::Unary(UnaryOp::PopulationCount);
    const POLICY: Policy = Policy::INTEGER;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        let dtype = args[0].dtype();
        map_int(cx, args[0], |x| i128::from(bits(dtype, x).count_ones()))
    }

    fn vjp(_: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::none("the operand is an integer"))
    }

    fn samples(_: DType) -> Vec<Sample> {
        per_type(Popcnt, &INTS, |dtype| [ints(dtype)])
    }
}

impl Builder<'_> {
    /// Element-wise number of bits set.
    ///
    /// # Errors
    /// When `x` is not an integer.
    pub fn popcnt(&mut self, x: Value) -> Result<Value> {
        self.emit(Popcnt, &[x])
    }
}
