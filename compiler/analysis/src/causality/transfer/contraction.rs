//! Sums, maxima and products over dimensions.

use super::TransferCx;
use super::rows::every_row_is_seen;
use crate::causality::affine::Digit;
use crate::causality::assumption::Assumption;
use crate::causality::levels::{Level, Levels};
use crate::causality::space::Space;
use crate::causality::state::State;
use halite_ir::ops::Reduction;

/// All elements along some dimensions, combined. A maximum does not read fills where something else is there.
pub(super) fn reduce(cx: &mut TransferCx<'_>, kind: Reduction) -> State {
    let space = cx.space();
    let mut x = cx.args[0].carried(&|digit| space.lift(0, digit)).settled();
    if matches!(kind, Reduction::Max) {
        forget_low(cx, &space, &mut x);
    }
    let gone = |digit: Digit| space.lacks(0, digit);
    let count: usize = space.contracted().map(|digit| digit.size).product();
    let all = x.levels.map(|level| combined(kind, level, count).map(|level| level.rounded(cx.dtype())));
    let (unbounded, unsure) = (x.unbounded, x.unsure && (x.unbounded || !cx.dtype().is_float()));
    let unsure = unsure || x.is_counted() && !all.cover_all();
    let hides = x.hides_zeros() && matches!(kind, Reduction::Max | Reduction::Min);
    let flow = x.flow.eliminated(&gone, false);
    let flow = if hides { flow.made_vague() } else { flow };
    let state = State { levels: all, flow, unbounded, unsure, ..State::default() };
    lowered(&state, &space)
}

/// In the result, the levels that all elements of a row share.
fn lowered(state: &State, space: &Space) -> State {
    let lowered = state.carried(&|digit| space.lower(0, digit));
    State { mixed: state.mixed, unsure: state.unsure, ..lowered }
}

/// The level that `count` equal elements combine to; `None` for a sum of elements that are no constant.
fn combined(kind: Reduction, level: Level, count: usize) -> Option<Level> {
    match kind {
        Reduction::Sum => {
            let times = if level.base == 0.0 { 0.0 } else { level.base * count as f64 };
            level.as_constant().map(|_| Level::constant(times))
        }
        Reduction::Product | Reduction::Xor => match level.as_constant() {
            Some(one) if kind == Reduction::Product => Some(Level::constant(one.powi(count as i32))),
            _ => None,
        },
        Reduction::Max | Reduction::Min | Reduction::And | Reduction::Or => Some(level),
    }
}

/// A maximum does not read fills in rows where something else is there.
fn forget_low(cx: &mut TransferCx<'_>, space: &Space, x: &mut State) {
    let low = x.levels.area(Level::is_low);
    if low.is_empty() && !x.mixed {
        return;
    }
    let seen = every_row_is_seen(&low, space);
    let infinite = x.levels.iter().all(|(level, _)| !level.is_low() || level.base.is_infinite());
    match seen {
        Some(true) if !x.mixed => {}
        Some(false) if infinite => cx.assume(Assumption::EmptyRows),
        _ => cx.assume(Assumption::RowsSeen),
    }
    let (rest, exact) = low.complement();
    if exact && (infinite || (seen == Some(true) && !x.unbounded)) {
        assume_bounded(cx, &x.levels);
        x.flow = x.flow.within(&rest);
    }
    x.unbounded |= seen != Some(true) && !infinite;
    x.unsure = x.unsure || seen.is_none();
}

/// A finite fill loses against a score while that is not lower still.
fn assume_bounded(cx: &mut TransferCx<'_>, levels: &Levels) {
    let dtype = cx.dtype();
    for (level, _) in levels.iter().filter(|(level, _)| level.is_low() && level.base.is_finite()) {
        let bound = -level.base / (1.0 + level.spread);
        cx.assume(Assumption::Underflow { fill: level.base, dtype, bound });
    }
}

/// A contraction of two operands: a product that is exactly 0 reads neither.
pub(super) fn dot(cx: &mut TransferCx<'_>) -> State {
    let space = cx.space();
    let x = cx.args[0].carried(&|digit| space.lift(0, digit)).settled();
    let y = cx.args[1].carried(&|digit| space.lift(1, digit)).settled();
    let mut zeros = x.levels.area_of(0.0).cloned().unwrap_or_default();
    if let Some(others) = y.levels.area_of(0.0) {
        zeros.add_all(others);
    }
    let hides = |own: &State, other: &State| own.levels.area_of(0.0).is_some() && other.grows;
    if hides(&x, &y) || hides(&y, &x) {
        cx.assume(Assumption::Finite);
    }
    let vague = |own: &State, other: &State| {
        if other.hides_zeros() { own.flow.clone().made_vague() } else { own.flow.clone() }
    };
    let mut flow = vague(&x, &y);
    flow.join(&vague(&y, &x));
    let (rest, exact) = zeros.complement();
    flow = flow.within(&rest);
    if !exact {
        flow = flow.made_vague();
    }
    let mut levels = Levels::default();
    levels.add(Level::constant(0.0), &zeros);
    let flow = flow.eliminated(&|digit| space.lacks(0, digit), false);
    let unsure = x.is_counted() && y.is_counted();
    lowered(&State { levels, flow, unsure, ..State::default() }, &space)
}
