//! `remainder`.

use super::class::zip_numbers;
use super::elementwise::{Elementwise, Hlo};
use super::special::{INTS, int_pairs, per_type, smooth_and_special};
use crate::build::{Builder, present};
use crate::described;
use crate::interpret::EvalCx;
use crate::op::{Policy, Sample, Vjp, VjpCx};
use crate::syntax::Value;
use halite_hlo::BinaryOp;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

described! {
    /// Element-wise remainder of the division that truncates toward zero: it has the sign of `x`. Floats are exact. As in
    /// XLA, an integer modulo zero is itself.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Remainder;
}

impl Elementwise for Remainder {
    const NAME: &'static str = "remainder";
    const HLO: Hlo = Hlo::Binary(BinaryOp::Remainder);
    const POLICY: Policy = Policy::SENSITIVE;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        zip_numbers(cx, args, |x, y| x % y, |x, y| if y == 0 { x } else { x % y })
    }

    /// `ct`, and `-ct` times the truncated quotient.
    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        let (x, y, z) = (cx.args[0], cx.args[1], cx.results[0]);
        let dy = cx.want(1, || {
            let multiple = b.subtract(x, z)?;
            let quotient = b.divide(multiple, y)?;
            let scaled = b.multiply(ct, quotient)?;
            b.negate(scaled)
        })?;
        Ok(Vjp::of([Some(ct), dy]))
    }

    fn samples(float: DType) -> Vec<Sample> {
        [smooth_and_special(Remainder, float, [(2.2, 3.8), (1.95, 2.1)], 0.0), per_type(Remainder, &INTS, int_pairs)]
            .concat()
    }
}

impl Builder<'_> {
    /// Element-wise remainder, with the sign of `x`.
    ///
    /// # Errors
    /// When the types differ or are not numbers.
    pub fn remainder(&mut self, x: Value, y: Value) -> Result<Value> {
        self.emit(Remainder, &[x, y])
    }
}
