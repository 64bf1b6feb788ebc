//! `minimum`.

use super::Direction;
use super::class::{Takes, zip_numbers};
use super::elementwise::{Elementwise, Hlo};
use super::maximum::{pick_samples, pick_vjp};
use crate::build::Builder;
use crate::described;
use crate::interpret::EvalCx;
use crate::op::{Policy, Sample, Vjp, VjpCx};
use crate::syntax::Value;
use halite_hlo::BinaryOp;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};
use std::cmp::Ordering;

described! {
    /// Element-wise smaller of two tensors of one type. NaN in either operand gives NaN; a positive zero is larger than a
    /// negative one.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Minimum;
}

impl Elementwise for Minimum {
    const NAME: &'static str = "minimum";
    const HLO: Hlo = Hlo::Binary(BinaryOp::Minimum);
    const TAKES: Option<Takes> = Some(Takes::Number);
    const POLICY: Policy = Policy::EXACT;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        zip_numbers(cx, args, minimum, i128::min)
    }

    /// Equal operands get half each.
    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        pick_vjp(b, cx, Direction::Lt)
    }

    fn samples(float: DType) -> Vec<Sample> {
        pick_samples(Minimum, float)
    }
}

/// The smaller of two reals, NaN if either is.
pub(super) fn minimum(x: f64, y: f64) -> f64 {
    match x.partial_cmp(&y) {
        None => f64::NAN,
        Some(Ordering::Less) => x,
        Some(Ordering::Greater) => y,
        // Equal reals differ at most in the sign of zero.
        Some(Ordering::Equal) => f64::from_bits(x.to_bits() | y.to_bits()),
    }
}

impl Builder<'_> {
    /// Element-wise smaller of two.
    ///
    /// # Errors
    /// When the types differ or are not numbers.
    pub fn minimum(&mut self, x: Value, y: Value) -> Result<Value> {
        self.emit(Minimum, &[x, y])
    }
}
