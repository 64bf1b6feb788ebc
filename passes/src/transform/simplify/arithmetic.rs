//! Rules for numbers.

use super::candidate::{Candidate, Rewrite};
use halite_ir::Op;
use halite_ir::ops::{Add, Subtract};
use halite_tensor::HostTensor;

/// `c + x => x + c` for every commutative op, so that other rules look for constants on the right only.
pub(super) fn constant_right(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let commutes = matches!(
        candidate.op,
        Op::Add(_) | Op::Multiply(_) | Op::Maximum(_) | Op::Minimum(_) | Op::And(_) | Op::Or(_) | Op::Xor(_)
    );
    let swaps = commutes && candidate.constant(0).is_some() && candidate.constant(1).is_none();
    swaps.then(|| Rewrite::apply(candidate.op.clone(), &[candidate.args[1], candidate.args[0]]))
}

/// `x + -0.0 => x`, and `x + 0` for integers. `x + 0.0` turns a negative zero into a positive one.
pub(super) fn add_negative_zero(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Add(_) = candidate.op else { return None };
    candidate.is_splat(1, -0.0).then(|| Rewrite::To(candidate.args[0]))
}

/// `x - 0.0 => x`. `x - -0.0` turns a negative zero into a positive one.
pub(super) fn subtract_zero(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Subtract(_) = candidate.op else { return None };
    candidate.is_splat(1, 0.0).then(|| Rewrite::To(candidate.args[0]))
}

/// `x * 1 => x`.
pub(super) fn multiply_one(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Multiply(_) = candidate.op else { return None };
    candidate.is_splat(1, 1.0).then(|| Rewrite::To(candidate.args[0]))
}

/// `x / 1 => x`.
pub(super) fn divide_one(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Divide(_) = candidate.op else { return None };
    candidate.is_splat(1, 1.0).then(|| Rewrite::To(candidate.args[0]))
}

/// `-(-x) => x`.
pub(super) fn negate_negate(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Negate(_) = candidate.op else { return None };
    let (Op::Negate(_), inner) = candidate.def(0)? else { return None };
    Some(Rewrite::To(inner[0]))
}

/// `x + (-y) => x - y`.
pub(super) fn add_negate(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Add(_) = candidate.op else { return None };
    let (Op::Negate(_), inner) = candidate.def(1)? else { return None };
    Some(Rewrite::apply(Subtract, &[candidate.args[0], inner[0]]))
}

/// `x - (-y) => x + y`.
pub(super) fn subtract_negate(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Subtract(_) = candidate.op else { return None };
    let (Op::Negate(_), inner) = candidate.def(1)? else { return None };
    Some(Rewrite::apply(Add, &[candidate.args[0], inner[0]]))
}

/// `(-x) * (-y) => x * y`.
pub(super) fn multiply_negates(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Multiply(_) = candidate.op else { return None };
    let ((Op::Negate(_), x), (Op::Negate(_), y)) = (candidate.def(0)?, candidate.def(1)?) else { return None };
    Some(Rewrite::apply(candidate.op.clone(), &[x[0], y[0]]))
}

/// `maximum(x, -inf) => x`, and with the least integer.
pub(super) fn maximum_lowest(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Maximum(_) = candidate.op else { return None };
    is_extreme(candidate, 1, Extreme::Lowest).then(|| Rewrite::To(candidate.args[0]))
}

/// `minimum(x, inf) => x`, and with the greatest integer.
pub(super) fn minimum_highest(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Minimum(_) = candidate.op else { return None };
    is_extreme(candidate, 1, Extreme::Highest).then(|| Rewrite::To(candidate.args[0]))
}

/// `clamp(-inf, x, inf) => x`, and between the least and the greatest integer.
pub(super) fn clamp_unbounded(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Clamp(_) = candidate.op else { return None };
    let unbounded = is_extreme(candidate, 0, Extreme::Lowest) && is_extreme(candidate, 2, Extreme::Highest);
    unbounded.then(|| Rewrite::To(candidate.args[1]))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Extreme {
    Lowest,
    Highest,
}

/// Whether an argument is everywhere the number that no other of its type exceeds.
fn is_extreme(candidate: &Candidate<'_>, position: usize, extreme: Extreme) -> bool {
    let Some(constant) = candidate.constant(position).filter(|constant| constant.is_splat()) else { return false };
    let value: &HostTensor = &constant.value;
    match value.dtype().int_range() {
        None => {
            let bound = if extreme == Extreme::Lowest { f64::NEG_INFINITY } else { f64::INFINITY };
            value.f64s()[0] == bound
        }
        Some((lowest, highest)) => value.ints()[0] == if extreme == Extreme::Lowest { lowest } else { highest },
    }
}
