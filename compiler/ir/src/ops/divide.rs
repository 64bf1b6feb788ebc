//! `divide`.

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
    /// Element-wise quotient of two tensors of one type. Integers truncate toward zero; as in XLA, division by zero gives
    /// all bits set (-1 when signed) and the smallest number divided by -1 gives itself.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Divide;
}

impl Elementwise for Divide {
    const NAME: &'static str = "divide";
    const HLO: Hlo = Hlo::Binary(BinaryOp::Divide);
    const POLICY: Policy = Policy::ELEMENTWISE;

    const LINEAR: Linear = Linear::First;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        zip_numbers(cx, args, |x, y| x / y, |x, y| if y == 0 { -1 } else { x / y })
    }

    /// `ct / y` and `-(ct / y) * z`.
    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        let y = cx.args[1];
        let dx = b.divide(ct, y)?;
        let dy = cx.want(1, || {
            let scaled = b.multiply(dx, cx.results[0])?;
            b.negate(scaled)
        })?;
        Ok(Vjp::of([Some(dx), dy]))
    }

    fn samples(float: DType) -> Vec<Sample> {
        [smooth_and_special(Divide, float, [(-2.0, 2.0), (0.5, 2.0)], 0.0), per_type(Divide, &INTS, int_pairs)].concat()
    }
}

impl Builder<'_> {
    /// Element-wise quotient.
    ///
    /// # Errors
    /// When the types differ or are not numbers.
    pub fn divide(&mut self, x: Value, y: Value) -> Result<Value> {
        self.emit(Divide, &[x, y])
    }
}
