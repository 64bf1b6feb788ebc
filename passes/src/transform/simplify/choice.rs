//! Rules for comparison, logic and choice.

use super::candidate::{Candidate, Rewrite};
use halite_ir::Op;
use halite_ir::ops::{Compare, Constant, Direction};
use halite_tensor::DType;

/// `f(x, x) => x` for maximum, minimum, and, or.
pub(super) fn equal_operands(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let idempotent = matches!(candidate.op, Op::Maximum(_) | Op::Minimum(_) | Op::And(_) | Op::Or(_));
    (idempotent && candidate.args[0] == candidate.args[1]).then(|| Rewrite::To(candidate.args[0]))
}

/// `x and all bits => x`.
pub(super) fn and_all(candidate: &Candidate<'_>) -> Option<Rewrite> {
    (matches!(candidate.op, Op::And(_)) && is_bits(candidate, Bits::All)).then(|| Rewrite::To(candidate.args[0]))
}

/// `x and no bits => no bits`.
pub(super) fn and_none(candidate: &Candidate<'_>) -> Option<Rewrite> {
    (matches!(candidate.op, Op::And(_)) && is_bits(candidate, Bits::None)).then(|| Rewrite::To(candidate.args[1]))
}

/// `x or all bits => all bits`.
pub(super) fn or_all(candidate: &Candidate<'_>) -> Option<Rewrite> {
    (matches!(candidate.op, Op::Or(_)) && is_bits(candidate, Bits::All)).then(|| Rewrite::To(candidate.args[1]))
}

/// `x or no bits => x`.
pub(super) fn or_none(candidate: &Candidate<'_>) -> Option<Rewrite> {
    (matches!(candidate.op, Op::Or(_)) && is_bits(candidate, Bits::None)).then(|| Rewrite::To(candidate.args[0]))
}

/// `not(not(x)) => x`.
pub(super) fn not_not(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Not(_) = candidate.op else { return None };
    let (Op::Not(_), inner) = candidate.def(0)? else { return None };
    Some(Rewrite::To(inner[0]))
}

/// `not(x < y) => x >= y` and so on. A NaN is neither below nor above, so that of floats only `EQ` and `NE` have an
/// opposite.
pub(super) fn not_compare(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Not(_) = candidate.op else { return None };
    let (Op::Compare(compare), args) = candidate.def(0)? else { return None };
    let is_float = candidate.function.ty(args[0]).dtype().is_float();
    let direction = match compare.direction {
        Direction::Eq => Direction::Ne,
        Direction::Ne => Direction::Eq,
        _ if is_float => return None,
        Direction::Ge => Direction::Lt,
        Direction::Gt => Direction::Le,
        Direction::Le => Direction::Gt,
        Direction::Lt => Direction::Ge,
    };
    Some(Rewrite::apply(Compare { direction }, args))
}

/// `c < x => x > c`, so that other rules look for constants on the right only.
pub(super) fn compare_constant_right(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Compare(compare) = candidate.op else { return None };
    let direction = match compare.direction {
        same @ (Direction::Eq | Direction::Ne) => same,
        Direction::Ge => Direction::Le,
        Direction::Gt => Direction::Lt,
        Direction::Le => Direction::Ge,
        Direction::Lt => Direction::Gt,
    };
    let swaps = candidate.constant(0).is_some() && candidate.constant(1).is_none();
    swaps.then(|| Rewrite::apply(Compare { direction }, &[candidate.args[1], candidate.args[0]]))
}

/// `select(not(p), x, y) => select(p, y, x)`.
pub(super) fn select_not(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Select(_) = candidate.op else { return None };
    let (Op::Not(_), inner) = candidate.def(0)? else { return None };
    Some(Rewrite::apply(candidate.op.clone(), &[inner[0], candidate.args[2], candidate.args[1]]))
}

/// `select(p, select(p, x, y), z) => select(p, x, z)`, and the same for the other side.
pub(super) fn select_select(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Select(_) = candidate.op else { return None };
    let [p, x, y] = *candidate.args else { return None };
    let inner = |position: usize| match candidate.def(position) {
        Some((Op::Select(_), inner)) if inner[0] == p => Some(inner[position]),
        _ => None,
    };
    let (of_x, of_y) = (inner(1), inner(2));
    (of_x.is_some() || of_y.is_some())
        .then(|| Rewrite::apply(candidate.op.clone(), &[p, of_x.unwrap_or(x), of_y.unwrap_or(y)]))
}

/// `select(p, x, x) => x`.
pub(super) fn select_same(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Select(_) = candidate.op else { return None };
    (candidate.args[1] == candidate.args[2]).then(|| Rewrite::To(candidate.args[1]))
}

/// `select(true, x, y) => x` and `select(false, x, y) => y`.
pub(super) fn select_constant(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Select(_) = candidate.op else { return None };
    let chosen = candidate.constant(0)?.splat_value()? != 0.0;
    Some(Rewrite::To(candidate.args[if chosen { 1 } else { 2 }]))
}

/// `x <= x => true` and so on, for integers and `pred`. A NaN does not equal itself.
pub(super) fn compare_same(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Compare(compare) = candidate.op else { return None };
    let x = candidate.ty(0);
    if candidate.args[0] != candidate.args[1] || x.dtype().is_float() {
        return None;
    }
    let holds = matches!(compare.direction, Direction::Eq | Direction::Le | Direction::Ge);
    Some(Rewrite::apply(Constant::splat(DType::Pred, x.shape().clone(), f64::from(u8::from(holds))), &[]))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bits {
    All,
    None,
}

/// Whether all bits of the right operand are the same everywhere.
fn is_bits(candidate: &Candidate<'_>, bits: Bits) -> bool {
    let Some(constant) = candidate.constant(1).filter(|constant| constant.is_splat()) else { return false };
    let value = &constant.value;
    let (lowest, highest) = value.dtype().int_range().unwrap_or_default();
    let all = if lowest < 0 { -1 } else { highest };
    value.ints()[0] == if bits == Bits::All { all } else { 0 }
}
