//! `maximum`.

use super::class::{Takes, zip_numbers};
use super::elementwise::{Elementwise, Hlo};
use super::special::{INTS, int_pairs, per_type, real_pairs};
use super::{Direction, Op};
use crate::build::{Builder, present};
use crate::described;
use crate::interpret::EvalCx;
use crate::op::{Policy, Sample, SampleArg, Vjp, VjpCx};
use crate::syntax::Value;
use halite_hlo::BinaryOp;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};
use std::cmp::Ordering;

described! {
    /// Element-wise larger of two tensors of one type. NaN in either operand gives NaN; a positive zero is larger than a
    /// negative one.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Maximum;
}

impl Elementwise for Maximum {
    const NAME: &'static str = "maximum";
    const HLO: Hlo = Hlo::Binary(BinaryOp::Maximum);
    const TAKES: Option<Takes> = Some(Takes::Number);
    const POLICY: Policy = Policy::EXACT;

    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor> {
        zip_numbers(cx, args, maximum, i128::max)
    }

    /// Equal operands get half each.
    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        pick_vjp(b, cx, Direction::Gt)
    }

    fn samples(float: DType) -> Vec<Sample> {
        pick_samples(Maximum, float)
    }
}

/// The larger of two reals, NaN if either is.
pub(super) fn maximum(x: f64, y: f64) -> f64 {
    match x.partial_cmp(&y) {
        None => f64::NAN,
        Some(Ordering::Greater) => x,
        Some(Ordering::Less) => y,
        // Equal reals differ at most in the sign of zero.
        Some(Ordering::Equal) => f64::from_bits(x.to_bits() & y.to_bits()),
    }
}

/// The cotangents of an op that picks one of its operands: all to `x` where it compares as `wins` with `y`, all to `y`
/// where `y` does, half to each where they are equal, none where one is NaN.
pub(super) fn pick_vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>, wins: Direction) -> Result<Vjp> {
    let (ct, x, y) = (present(cx.ct())?, cx.args[0], cx.args[1]);
    let zero = b.splat_like(ct, 0.0)?;
    let half = b.multiply_scalar(ct, 0.5)?;
    let equal = b.compare(x, y, Direction::Eq)?;
    let shared = b.select(equal, half, zero)?;
    let mut share = |own: Value, other: Value| {
        let picked = b.compare(own, other, wins)?;
        b.select(picked, ct, shared)
    };
    let dx = cx.want(0, || share(x, y))?;
    let dy = cx.want(1, || share(y, x))?;
    Ok(Vjp::of([dx, dy]))
}

/// Samples of such an op, which has a kink where its operands are equal.
pub(super) fn pick_samples(op: impl Into<Op>, float: DType) -> Vec<Sample> {
    let op = op.into();
    let low = || SampleArg::uniform(float, [2, 3], -2.0, 0.9);
    let high = || SampleArg::uniform(float, [2, 3], 1.0, 2.0);
    let mut samples = vec![
        Sample::new("smooth", op.clone(), [low(), high()]),
        Sample::new("swapped", op.clone(), [high(), low()]),
        Sample::new("special", op.clone(), real_pairs(float)),
    ];
    samples.extend(per_type(op, &INTS, int_pairs));
    samples
}

impl Builder<'_> {
    /// Element-wise larger of two.
    ///
    /// # Errors
    /// When the types differ or are not numbers.
    pub fn maximum(&mut self, x: Value, y: Value) -> Result<Value> {
        self.emit(Maximum, &[x, y])
    }
}
