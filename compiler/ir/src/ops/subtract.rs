//! `subtract`.

use super::class::zip_numbers;
use super::elementwise::{Elementwise, Hlo};
use super::special::{INTS, int_pairs, per_type, smooth_and_special};
use crate::build::{Builder, present};
use crate::described;
use crate::interpret::EvalCx;
use crate::op::{Policy, Sample, Vjp, VjpCx};
use crate::shards::Linear;
use crate::syntax::Value;
use halite_hlo::BinaryOp;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

described! {
    /// Element-wise difference of two tensors of one type; integers wrap.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Subtract;
}

impl Elementwise for Subtract {
    const NAME: &'static str = "subtract";
    const HLO: Hlo = Hlo::Binary(BinaryOp::Subtract);
    const POLICY: Policy = Policy::ELEMENTWISE;

    const LINEAR: Linear = Linear::Jointly;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        zip_numbers(cx, args, |x, y| x - y, |x, y| x - y)
    }

    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        let dy = cx.want(1, || b.negate(ct))?;
        Ok(Vjp::of([Some(ct), dy]))
    }

    fn samples(float: DType) -> Vec<Sample> {
        [smooth_and_special(Subtract, float, [(-2.0, 2.0), (-2.0, 2.0)], 0.0), per_type(Subtract, &INTS, int_pairs)]
            .concat()
    }
}

impl Builder<'_> {
    /// Element-wise difference.
    ///
    /// # Errors
    /// When the types differ or are not numbers.
    pub fn subtract(&mut self, x: Value, y: Value) -> Result<Value> {
        self.emit(Subtract, &[x, y])
    }
}
