//! Comparisons and choices.

use super::elementwise::loses;
use super::{TransferCx, counted};
use crate::causality::affine::Affine;
use crate::causality::assumption::Assumptions;
use crate::causality::levels::{Level, Levels};
use crate::causality::region::{Area, Region};
use crate::causality::state::State;
use crate::causality::tabulate::Kind;
use halite_ir::ops::Direction;
use halite_tensor::DType;

/// The state of a comparison, known by the numbers of the operands or where both are constants.
pub(super) fn compare(cx: &TransferCx<'_>, direction: Direction) -> State {
    let compared = |values: &[f64]| Some(f64::from(u8::from(holds(direction, values[0], values[1]))));
    counted(&cx.args, DType::Pred, related(cx, direction), Kind::Jump, compared)
}

/// The same, where numbers or constants decide.
fn related(cx: &TransferCx<'_>, direction: Direction) -> State {
    let (x, y) = (cx.args[0], cx.args[1]);
    let mut flow = x.flow.clone();
    flow.join(&y.flow);
    // Numbers that differ little compare alike.
    let mut state = State::flowing(if cx.types[0].dtype().is_float() { flow.made_vague() } else { flow });
    if let (Some(a), Some(b)) = (&x.number, &y.number) {
        state.levels = relation(direction, &a.minus(b));
    } else if let (Some(a), Some(limit)) = (&x.magnitude, y.number.as_ref().and_then(Affine::as_constant)) {
        state.levels = magnitude(direction, a, limit);
    } else if let Some((direction, number)) = beside_fraction(direction, x, y) {
        state.levels = relation(direction, &number);
    } else {
        for (a, first) in x.levels.iter().filter_map(|(level, area)| Some((level.as_constant()?, area))) {
            for (b, second) in y.levels.iter().filter_map(|(level, area)| Some((level.as_constant()?, area))) {
                state.levels.add(truth(holds(direction, a, b)), &first.and(second).0);
            }
        }
    }
    state.unsure = x.unsure || y.unsure || (state.is_static() && !state.levels.cover_all());
    state.settled()
}

/// The comparison of whole numbers with a constant between two of them, as one with 0.
fn beside_fraction(direction: Direction, x: &State, y: &State) -> Option<(Direction, Affine)> {
    let between = |state: &State| state.levels.everywhere().filter(|value| value.is_finite() && value.abs() < 1e15);
    let (number, limit, greater) = match (&x.number, &y.number) {
        (Some(number), None) => (number, between(y)?, matches!(direction, Direction::Ge | Direction::Gt)),
        (None, Some(number)) => (number, between(x)?, matches!(direction, Direction::Le | Direction::Lt)),
        _ => return None,
    };
    let ordered = !matches!(direction, Direction::Eq | Direction::Ne);
    let number = number.clone().plus_constant(-(limit.floor() as i64));
    ordered.then_some((if greater { Direction::Gt } else { Direction::Le }, number))
}

fn truth(holds: bool) -> Level {
    Level::constant(f64::from(u8::from(holds)))
}

fn holds(direction: Direction, a: f64, b: f64) -> bool {
    match direction {
        Direction::Eq => a == b,
        Direction::Ne => a != b,
        Direction::Ge => a >= b,
        Direction::Gt => a > b,
        Direction::Le => a <= b,
        Direction::Lt => a < b,
    }
}

/// The levels of a comparison of a whole number with 0: 1 where it holds, 0 where it does not.
fn relation(direction: Direction, number: &Affine) -> Levels {
    let least = |form: &Affine, by: i64| Region::new([form.clone().plus_constant(-by)]);
    let negated = number.negated();
    let at_least = |by: i64| least(number, by);
    let at_most = |by: i64| least(&negated, -by);
    let zero = Region::new([number.clone(), negated.clone()]);
    let apart = [at_least(1), at_most(-1)];
    let (yes, no): (Vec<_>, Vec<_>) = match direction {
        Direction::Ge => (vec![at_least(0)], vec![at_most(-1)]),
        Direction::Gt => (vec![at_least(1)], vec![at_most(0)]),
        Direction::Le => (vec![at_most(0)], vec![at_least(1)]),
        Direction::Lt => (vec![at_most(-1)], vec![at_least(0)]),
        Direction::Eq => (vec![zero], apart.to_vec()),
        Direction::Ne => (apart.to_vec(), vec![zero]),
    };
    let mut levels = Levels::default();
    for (answer, regions) in [(true, yes), (false, no)] {
        regions.into_iter().flatten().for_each(|region| _ = levels.add(truth(answer), &Area::from(region)));
    }
    levels
}

/// The levels of a comparison of the magnitude of a whole number with a constant: 1 where it holds, 0 where it does not.
fn magnitude(direction: Direction, number: &Affine, limit: i64) -> Levels {
    let (inside, negated) = match direction {
        Direction::Lt | Direction::Ge => (Direction::Lt, direction == Direction::Ge),
        Direction::Le | Direction::Gt => (Direction::Le, direction == Direction::Gt),
        Direction::Eq | Direction::Ne => return Levels::default(),
    };
    let (above, below) = (number.clone(), number.negated());
    let [above, below] = [above, below].map(|side| relation(inside, &side.plus_constant(-limit)));
    let none = Area::default();
    let of = |levels: &Levels, value: f64| levels.area_of(value).unwrap_or(&none).clone();
    let mut outside = of(&above, 0.0);
    outside.add_all(&of(&below, 0.0));
    let mut levels = Levels::default();
    levels.add(truth(!negated), &of(&above, 1.0).and(&of(&below, 1.0)).0);
    levels.add(truth(negated), &outside);
    levels
}

/// Elements of one operand where a predicate holds, of another elsewhere.
pub(super) fn select(cx: &TransferCx<'_>) -> State {
    let chosen = |values: &[f64]| Some(if values[0] != 0.0 { values[1] } else { values[2] });
    counted(&cx.args, cx.dtype(), one_or_other(cx), Kind::Smooth, chosen)
}

/// The same, where inputs decide something.
fn one_or_other(cx: &TransferCx<'_>) -> State {
    let (p, x, y) = (cx.args[0], cx.args[1], cx.args[2]);
    match p.levels.everywhere() {
        Some(0.0) => return y.clone(),
        Some(_) => return x.clone(),
        None => {}
    }
    let none = Area::default();
    let (yes, no) = (p.levels.area_of(1.0).unwrap_or(&none), p.levels.area_of(0.0).unwrap_or(&none));
    let known = p.levels.cover_all();
    let mut state = State { flow: p.flow.clone(), unsure: x.unsure || y.unsure, ..State::default() };
    state.unsure |= p.hides_zeros();
    for (chosen, here, elsewhere) in [(x, yes, no), (y, no, yes)] {
        let (others, exact) = elsewhere.complement();
        let flow = chosen.flow.within(&others);
        let vague = !exact || p.hides_zeros();
        state.flow.join(&if vague { flow.made_vague() } else { flow });
        let (levels, complete) = chosen.levels.within(here);
        state.add_levels(&levels, complete);
        state.mixed |= chosen.mixed || (!known && chosen.levels.iter().any(|(level, _)| level.is_fill()));
        state.unbounded |= chosen.unbounded;
    }
    for (level, area) in x.levels.iter() {
        if let Some(also) = level.as_constant().and_then(|value| y.levels.area_of(value)) {
            state.levels.add(level, &area.and(also).0);
        }
    }
    state.settled()
}

/// `min(max(x, low), high)`.
pub(super) fn clamp(cx: &mut TransferCx<'_>) -> State {
    let state = clamped(cx);
    counted(&cx.args, cx.dtype(), state, Kind::Smooth, |values| Some(values[1].max(values[0]).min(values[2])))
}

/// The same, where inputs decide something.
fn clamped(cx: &mut TransferCx<'_>) -> State {
    let [low, x, high] = cx.args[..] else { return State::default() };
    let mut state = State { nonzero: false, ..x.clone() };
    state.flow.join(&low.flow);
    state.flow.join(&high.flow);
    let (Some(least), Some(most)) = (low.levels.everywhere(), high.levels.everywhere()) else {
        if x.levels.iter().any(|(level, _)| level.is_fill()) {
            state.forget_fills();
        }
        return State { number: None, table: None, levels: Levels::default(), ..state };
    };
    let inside = |number: &Affine| number.low() as f64 >= least && number.high() as f64 <= most;
    state.number = x.number.clone().filter(inside);
    let mut assumptions = Assumptions::default();
    let outweighed: Vec<(Level, Level)> = x
        .levels
        .iter()
        .filter(|(level, _)| level.as_constant().is_none())
        .filter_map(|(level, _)| {
            let limit = if level.is_low() { least } else { most };
            Some((level, loses(level, limit, &mut assumptions)?))
        })
        .collect();
    cx.assumptions.add_all(&assumptions);
    let (levels, lost) = x.map_levels(|level| match level.as_constant() {
        Some(value) => Some(Level::constant(value.max(least).min(most))),
        None => outweighed
            .iter()
            .find(|(own, _)| *own == level)
            .map(|(_, limit)| *limit)
            .or_else(|| Some(level).filter(|level| !level.open && level.base - 1.0 >= least && level.base < most)),
    });
    if lost {
        state.forget_fills();
    }
    State { table: None, levels, ..state }
}
