//! Element-wise functions of one and two operands.

use super::{TransferCx, counted};
use crate::causality::affine::{Affine, Digit};
use crate::causality::assumption::{Assumption, Assumptions, underflow};
use crate::causality::levels::{FILL, Level, Levels};
use crate::causality::region::{Area, Region};
use crate::causality::state::{State, is_exact};
use crate::causality::tabulate::Kind;
use halite_ir::Op;
use halite_tensor::DType;

/// Whether an op is an element-wise function of one operand.
pub(super) fn is_unary(op: &Op) -> bool {
    scalar(op).is_some() || matches!(op, Op::Popcnt(_) | Op::CountLeadingZeros(_) | Op::BitcastConvert(_) | Op::Erf(_))
}

/// The function of one number that an op computes, if it is a simple one.
fn scalar(op: &Op) -> Option<fn(f64) -> f64> {
    Some(match op {
        Op::Abs(_) => f64::abs,
        Op::Cbrt(_) => f64::cbrt,
        Op::Ceil(_) => f64::ceil,
        Op::Cosine(_) => f64::cos,
        Op::Exponential(_) => f64::exp,
        Op::ExponentialMinusOne(_) => f64::exp_m1,
        Op::Floor(_) => f64::floor,
        Op::IsFinite(_) => |x| f64::from(u8::from(x.is_finite())),
        Op::Log(_) => f64::ln,
        Op::LogPlusOne(_) => f64::ln_1p,
        Op::Logistic(_) => |x| 1.0 / (1.0 + (-x).exp()),
        Op::Negate(_) => |x| -x,
        Op::RoundNearestAfz(_) => f64::round,
        Op::RoundNearestEven(_) => f64::round_ties_even,
        Op::Rsqrt(_) => |x| x.sqrt().recip(),
        Op::Sign(_) => |x| if x == 0.0 { 0.0 } else { x.signum() },
        Op::Sine(_) => f64::sin,
        Op::Sqrt(_) => f64::sqrt,
        Op::Tan(_) => f64::tan,
        Op::Tanh(_) => f64::tanh,
        Op::Not(_) => |x| 1.0 - x,
        _ => return None,
    })
}

/// Whether an op maps many numbers that differ little to one, so that a change of the operand need not change the result.
fn is_coarse(op: &Op) -> bool {
    matches!(
        op,
        Op::Ceil(_) | Op::Floor(_) | Op::IsFinite(_) | Op::RoundNearestAfz(_) | Op::RoundNearestEven(_) | Op::Sign(_)
    )
}

/// An element-wise function of one operand.
pub(super) fn unary(cx: &mut TransferCx<'_>) -> State {
    let mut state = mapped(cx);
    let op = &cx.inst.op;
    if is_coarse(op) {
        state.flow = state.flow.made_vague();
    }
    // No number of an element type lies close enough to an odd multiple of a right angle.
    state.nonzero = matches!(op, Op::Cosine(_));
    let bitwise = matches!(op, Op::Not(_)) && cx.dtype() != DType::Pred;
    let function = scalar(op).filter(|_| !bitwise);
    let kind = match op {
        _ if is_coarse(op) => Kind::Jump,
        Op::Abs(_) | Op::Negate(_) | Op::Not(_) | Op::Sqrt(_) => Kind::Smooth,
        _ => Kind::Approximate,
    };
    counted(&cx.args, cx.dtype(), state, kind, |values| Some(function?(values[0])))
}

/// The same, of operands that inputs decide.
fn mapped(cx: &mut TransferCx<'_>) -> State {
    let (x, dtype, op) = (cx.args[0], cx.dtype(), &cx.inst.op);
    let is_linear = matches!(op, Op::Negate(_));
    let mut state = State {
        mixed: (x.mixed && is_linear) || (x.hides_zeros() && matches!(op, Op::Log(_))),
        unbounded: x.unbounded && is_linear,
        unsure: x.unsure,
        flow: x.flow.clone(),
        ..State::default()
    };
    if is_linear {
        state.number = x.number.as_ref().map(Affine::negated).filter(|number| is_exact(number, dtype));
    }
    if matches!(op, Op::Abs(_)) {
        state.magnitude = x.number.clone();
    }
    if x.levels.is_empty() {
        return state;
    }
    let bitwise = matches!(op, Op::Not(_)) && dtype != DType::Pred;
    let Some(function) = scalar(op).filter(|_| !bitwise) else { return state };
    let constant = |level: Level| level.as_constant().map(|value| Level::constant(function(value)).rounded(dtype));
    let (levels, lost) = match op {
        Op::Negate(_) => x.map_levels(|level| Some(Level { base: -level.base, ..level })),
        Op::Exponential(_) | Op::Logistic(_) => {
            for (level, _) in x.levels.iter().filter(|(level, _)| level.spread > 0.0 && vanishes(*level, dtype)) {
                let bound = (underflow(dtype) - level.base) / level.spread;
                cx.assume(Assumption::Underflow { fill: level.base, dtype, bound });
            }
            let vanishing = |level: Level| vanishes(level, dtype).then_some(Level::constant(0.0));
            let result = |level: Level| constant(level).or_else(|| vanishing(level));
            state.unsure |= x.levels.iter().any(|(level, _)| level.is_low() && result(level).is_none());
            (x.levels.map(result), false)
        }
        _ => (x.levels.map(constant), false),
    };
    state.levels = levels;
    if lost {
        state.forget_fills();
    }
    state
}

/// Whether the exponential of a fill is 0 while scores are bounded.
fn vanishes(level: Level, dtype: DType) -> bool {
    level.is_low() && level.base < underflow(dtype)
}

/// The elements in another type.
pub(in crate::causality) fn convert(x: &State, from: DType, to: DType) -> State {
    let level = |level: Level| {
        let level = if to == DType::Pred {
            Level::constant(f64::from(u8::from(level.as_constant()? != 0.0)))
        } else {
            level.rounded(to)
        };
        Some(level)
    };
    let cut = from.is_float() && to.is_int();
    let whole = |level: &Level| !cut || level.base.fract() == 0.0;
    let number = x.number.clone().filter(|number| to != DType::Pred && is_exact(number, to));
    let magnitude = x.magnitude.clone().filter(|number| is_exact(number, to));
    let levels = x.levels.map(|own| level(own).filter(whole));
    let nonzero = x.nonzero && !cut;
    let mut state = State { number, magnitude, table: None, levels, nonzero, ..x.clone() };
    if cut {
        state.flow = state.flow.made_vague();
    }
    let truth = |value: f64| f64::from(u8::from(value != 0.0));
    let converted = |values: &[f64]| Some(if to == DType::Pred { truth(values[0]) } else { cut_off(values[0], cut) });
    let kind = if cut || to == DType::Pred { Kind::Jump } else { Kind::Smooth };
    counted(&[x], to, state, kind, converted)
}

fn cut_off(value: f64, cut: bool) -> f64 {
    if cut { value.trunc() } else { value }
}

/// Whether an op is an element-wise function of two operands.
pub(super) fn is_binary(op: &Op) -> bool {
    matches!(
        op,
        Op::Add(_)
            | Op::Subtract(_)
            | Op::Multiply(_)
            | Op::Divide(_)
            | Op::Maximum(_)
            | Op::Minimum(_)
            | Op::And(_)
            | Op::Or(_)
            | Op::Xor(_)
            | Op::Remainder(_)
            | Op::Power(_)
            | Op::Atan2(_)
            | Op::ShiftLeft(_)
            | Op::ShiftRightLogical(_)
            | Op::ShiftRightArithmetic(_)
    )
}

/// An element-wise function of two operands.
pub(super) fn binary(cx: &mut TransferCx<'_>) -> State {
    let state = combined(cx);
    let (dtype, op) = (cx.dtype(), &cx.inst.op);
    let kind = match op {
        Op::Power(_) | Op::Atan2(_) => Kind::Approximate,
        Op::Remainder(_) => Kind::Jump,
        Op::Divide(_) if dtype.is_int() => Kind::Jump,
        _ => Kind::Smooth,
    };
    counted(&cx.args, dtype, state, kind, |values| of_numbers(op, values[0], values[1], dtype))
}

/// The state with a level for the zeros of a whole number, if it has no levels yet.
fn with_zeros(x: &State) -> Option<State> {
    let number = x.number.as_ref().filter(|_| x.levels.is_empty())?;
    let mut levels = Levels::default();
    levels.add(Level::constant(0.0), &Region::new([number.clone(), number.negated()])?.into());
    Some(State { levels, ..x.clone() })
}

/// The same, of operands of which inputs decide at least one.
fn combined(cx: &mut TransferCx<'_>) -> State {
    let (x, y, dtype, op) = (cx.args[0], cx.args[1], cx.dtype(), &cx.inst.op);
    let hides = matches!(op, Op::Multiply(_)) && !(x.is_static() && y.is_static());
    let zeros = [x, y].map(|own| with_zeros(own).filter(|_| hides));
    let (x, y) = (zeros[0].as_ref().unwrap_or(x), zeros[1].as_ref().unwrap_or(y));
    let is_linear =
        matches!(op, Op::Add(_) | Op::Subtract(_) | Op::Multiply(_) | Op::Divide(_) | Op::Maximum(_) | Op::Minimum(_));
    let mut state = State {
        number: number(op, x, y, dtype).filter(|number| is_exact(number, dtype)),
        mixed: is_linear && (x.mixed || y.mixed),
        unbounded: is_linear && (x.unbounded || y.unbounded),
        unsure: hides_some(op, x, y),
        ..State::default()
    };
    let (mut left, mut right) = (x.flow.clone(), y.flow.clone());
    let hides = |own: &State| (may_hide(op, dtype) && own.hides_zeros()) || (shifts(op) && own.hides_fills());
    left = if hides(y) { left.made_vague() } else { left };
    right = if hides(x) { right.made_vague() } else { right };
    left.join(&right);
    state.flow = left;
    if let (Op::Divide(_), Some(zeros), Some(others)) = (op, x.levels.area_of(0.0), y.levels.area_of(0.0))
        && dtype.is_float()
        && !zeros.and(others).0.is_empty()
    {
        cx.assume(Assumption::EmptyRows);
    }
    if !x.levels.is_empty() || !y.levels.is_empty() {
        levels(op, x, y, dtype, &mut state, cx.assumptions);
    }
    state.settled()
}

/// Whether a zero or a fill of one operand hides the other.
fn may_hide(op: &Op, dtype: DType) -> bool {
    matches!(op, Op::Multiply(_) | Op::Maximum(_) | Op::Minimum(_))
        || (dtype == DType::Pred && matches!(op, Op::And(_) | Op::Or(_)))
}

/// Whether some elements of the result may be 0 or fills by a mask that is not followed.
fn hides_some(op: &Op, x: &State, y: &State) -> bool {
    let unsure = |own: &State| own.unsure && !own.nonzero;
    match op {
        Op::Multiply(_) => unsure(x) || unsure(y),
        // A sum of what tokens decide is 0 where both are.
        Op::Add(_) if !x.is_static() && !y.is_static() && !x.mixed && !y.mixed => unsure(x) && unsure(y),
        _ => x.unsure || y.unsure,
    }
}

/// Whether a fill of one operand makes one of the other.
fn shifts(op: &Op) -> bool {
    matches!(op, Op::Add(_) | Op::Subtract(_))
}

/// The result as a function of the index.
fn number(op: &Op, x: &State, y: &State, dtype: DType) -> Option<Affine> {
    let (a, b) = (x.number.as_ref()?, y.number.as_ref()?);
    match op {
        Op::Add(_) => Some(a.plus(b)),
        Op::Subtract(_) => Some(a.minus(b)),
        Op::Multiply(_) => match (a.as_constant(), b.as_constant()) {
            (_, Some(by)) => a.scaled(by),
            (Some(by), _) => b.scaled(by),
            _ => None,
        },
        Op::Maximum(_) if a.minus(b).low() >= 0 => Some(a.clone()),
        Op::Maximum(_) if b.minus(a).low() >= 0 => Some(b.clone()),
        Op::Minimum(_) if a.minus(b).low() >= 0 => Some(b.clone()),
        Op::Minimum(_) if b.minus(a).low() >= 0 => Some(a.clone()),
        Op::Divide(_) if dtype.is_int() => parts(a, b.as_constant()?).map(|(quotient, _)| quotient),
        Op::Remainder(_) => parts(a, b.as_constant()?).map(|(_, rest)| rest),
        Op::ShiftRightLogical(_) | Op::ShiftRightArithmetic(_) => {
            let bits = u32::try_from(b.as_constant()?).ok().filter(|bits| *bits < 40)?;
            parts(a, 1 << bits).map(|(quotient, _)| quotient)
        }
        _ => None,
    }
}

/// Quotient and remainder of a digit by a constant that divides its size.
fn parts(number: &Affine, by: i64) -> Option<(Affine, Affine)> {
    let [(digit, 1)] = number.terms() else { return None };
    let by = usize::try_from(by).ok().filter(|by| *by > 0 && digit.size.is_multiple_of(*by))?;
    if number.offset() != 0 {
        return None;
    }
    let low = Digit { size: by, ..*digit };
    let high = Digit { stride: digit.stride * by, size: digit.size / by, ..*digit };
    Some((high.into(), low.into()))
}

/// The largest constant that shifts or scales scores and surely masks none: its negative has an exponential that is still a
/// normal number in `f32` and `bf16`.
const MODEST: f64 = 87.0;

/// Whether scores stay scores under an op with this constant: a divisor, or a constant that shifts or scales all of them alike.
fn keeps_scores(op: &Op, level: Level, is_shared: bool, is_right: bool) -> bool {
    let Some(value) = level.as_constant() else { return false };
    match op {
        Op::Add(_) | Op::Subtract(_) | Op::Multiply(_) => is_shared && value.abs() <= MODEST,
        Op::Divide(_) => is_right,
        _ => false,
    }
}

/// The levels of the result: where one operand decides alone, where a fill meets a score, and where both have a level.
fn levels(op: &Op, x: &State, y: &State, dtype: DType, state: &mut State, assumptions: &mut Assumptions) {
    for (own, other, swapped) in [(x, y, false), (y, x, true)] {
        let is_shared = own.levels.everywhere().is_some();
        for (level, area) in own.levels.iter() {
            if let Some(result) = absorbed(op, level, swapped, dtype) {
                if other.grows && !matches!(op, Op::Divide(_) | Op::Maximum(_) | Op::Minimum(_)) {
                    assumptions.add(Assumption::Finite);
                }
                state.add_levels(&one(result.rounded(dtype), area), true);
            } else if level.is_fill() && !is_neutral(op, level) && !keeps_scores(op, level, is_shared, swapped) {
                meet_scores(filled(op, level, swapped), area, other, dtype, state);
            }
        }
    }
    for (a, first) in x.levels.iter().filter(|(level, _)| absorbed(op, *level, false, dtype).is_none()) {
        for (b, second) in y.levels.iter().filter(|(level, _)| absorbed(op, *level, true, dtype).is_none()) {
            let (both, complete) = first.and(second);
            if both.is_empty() {
                continue;
            }
            match together(op, a, b, dtype).or_else(|| outweighed(op, a, b, assumptions)) {
                Some(level) => state.add_levels(&one(level.rounded(dtype), &both), complete),
                None if a.is_fill() || b.is_fill() => state.forget_fills(),
                None => {}
            }
        }
    }
}

/// Adds what a fill makes of the scores among the elements of the other operand, if there are any.
fn meet_scores(result: Option<Level>, area: &Area, other: &State, dtype: DType, state: &mut State) {
    let (rest, exact) = other.levels.area(|_| true).complement();
    let met = rest.into_iter().map(|region| area.and(&region.into())).filter(|(inside, _)| !inside.is_empty());
    for (inside, complete) in met {
        match result.filter(|_| exact) {
            // Elements that nothing bounds may cancel the fill.
            Some(_) if other.unbounded => state.mixed = true,
            // So may other fills.
            Some(_) if other.mixed && other.is_static() => state.forget_fills(),
            Some(result) => state.add_levels(&one(result.rounded(dtype), &inside), complete),
            None => state.forget_fills(),
        }
    }
}

fn one(level: Level, area: &Area) -> Levels {
    let mut levels = Levels::default();
    levels.add(level, area);
    levels
}

/// The result where one operand has a level that decides alone, the other being finite.
fn absorbed(op: &Op, level: Level, is_right: bool, dtype: DType) -> Option<Level> {
    let value = level.as_constant()?;
    let zero = value == 0.0;
    let result = match op {
        Op::Multiply(_) if zero => 0.0,
        Op::And(_) if zero => 0.0,
        Op::Or(_) if dtype == DType::Pred && value == 1.0 => 1.0,
        Op::Divide(_) if zero && !is_right => 0.0,
        Op::Divide(_) if value.is_infinite() && is_right => 0.0,
        Op::Add(_) if value.is_infinite() => value,
        Op::Subtract(_) if value.is_infinite() => {
            if is_right {
                -value
            } else {
                value
            }
        }
        Op::Maximum(_) if value == f64::INFINITY => value,
        Op::Minimum(_) if value == f64::NEG_INFINITY => value,
        _ => return None,
    };
    Some(Level::constant(result))
}

/// Whether a fill leaves every score as it is.
fn is_neutral(op: &Op, level: Level) -> bool {
    match op {
        Op::Maximum(_) => level.is_low(),
        Op::Minimum(_) => !level.is_low(),
        _ => false,
    }
}

/// The result where one operand is a fill and the other a score. Which of the two is the larger depends on the score, too.
fn filled(op: &Op, level: Level, is_right: bool) -> Option<Level> {
    let spread = level.spread + 1.0;
    match op {
        Op::Add(_) => Some(Level { spread, ..level }),
        Op::Subtract(_) if is_right => Some(Level { base: -level.base, spread, ..level }),
        Op::Subtract(_) => Some(Level { spread, ..level }),
        Op::Minimum(_) if level.is_low() => Some(Level { spread, ..level }),
        Op::Maximum(_) if !level.is_low() => Some(Level { spread, ..level }),
        _ => None,
    }
}

/// The constant, where the other operand is a fill that loses against it.
fn outweighed(op: &Op, a: Level, b: Level, assumptions: &mut Assumptions) -> Option<Level> {
    let (fill, limit) = match (a.as_constant(), b.as_constant()) {
        (None, Some(limit)) => (a, limit),
        (Some(limit), None) => (b, limit),
        _ => return None,
    };
    match op {
        Op::Maximum(_) if fill.is_low() => loses(fill, limit, assumptions),
        Op::Minimum(_) if !fill.is_low() => loses(fill, limit, assumptions),
        _ => None,
    }
}

/// The limit, where a fill stays on the other side of it.
pub(super) fn loses(fill: Level, limit: f64, assumptions: &mut Assumptions) -> Option<Level> {
    let distance = if fill.is_low() { limit - fill.base } else { fill.base - limit };
    if !fill.is_fill() || distance < FILL {
        return None;
    }
    if fill.spread > 0.0 {
        let bound = distance / fill.spread;
        assumptions.add(Assumption::Outweighed { fill: fill.base, limit, bound });
    }
    Some(Level::constant(limit))
}

/// The result where both operands have a level.
fn together(op: &Op, a: Level, b: Level, dtype: DType) -> Option<Level> {
    if let Some((x, y)) = a.as_constant().zip(b.as_constant()) {
        return of_numbers(op, x, y, dtype).map(Level::constant);
    }
    let (base, spread) = match op {
        Op::Add(_) => (a.base + b.base, a.spread + b.spread),
        Op::Subtract(_) => (a.base - b.base, a.spread + b.spread),
        Op::Multiply(_) if b.spread == 0.0 => (a.base * b.base, a.spread * b.base.abs()),
        Op::Multiply(_) if a.spread == 0.0 => (a.base * b.base, b.spread * a.base.abs()),
        Op::Divide(_) if dtype.is_float() && b.spread == 0.0 && b.base != 0.0 => {
            (a.base / b.base, a.spread / b.base.abs())
        }
        _ => return None,
    };
    let open = a.open || b.open;
    (!open || stays_beyond(op, a, b, base)).then_some(Level { base, spread, open })
}

/// Whether numbers beyond one level, combined with another level, lie beyond the combination of the two.
fn stays_beyond(op: &Op, a: Level, b: Level, base: f64) -> bool {
    let same_side = |own: Level| own.base.signum() == base.signum() && base.abs() >= FILL;
    match op {
        Op::Add(_) => [a, b].iter().all(|own| !own.open || same_side(*own)),
        Op::Subtract(_) => (!a.open || same_side(a)) && (!b.open || same_side(Level { base: -b.base, ..b })),
        Op::Multiply(_) => true,
        Op::Divide(_) => !b.open,
        _ => false,
    }
}

/// The number that an op makes of two.
fn of_numbers(op: &Op, x: f64, y: f64, dtype: DType) -> Option<f64> {
    let flag = |truth: bool| f64::from(u8::from(truth));
    let is_int = dtype.is_int();
    let number = match op {
        Op::Add(_) => x + y,
        Op::Subtract(_) => x - y,
        Op::Multiply(_) => x * y,
        Op::Divide(_) if !is_int => x / y,
        Op::Divide(_) if y != 0.0 => (x / y).trunc(),
        Op::Remainder(_) if !is_int || y != 0.0 => x % y,
        Op::Maximum(_) => x.max(y),
        Op::Minimum(_) => x.min(y),
        Op::Power(_) => x.powf(y),
        Op::And(_) if dtype == DType::Pred => flag(x != 0.0 && y != 0.0),
        Op::Or(_) if dtype == DType::Pred => flag(x != 0.0 || y != 0.0),
        Op::Xor(_) if dtype == DType::Pred => flag(x != y),
        Op::Or(_) | Op::Xor(_) if x == 0.0 => y,
        Op::Or(_) | Op::Xor(_) if y == 0.0 => x,
        _ => return None,
    };
    let (low, high) =
        dtype.int_range().map_or((f64::NEG_INFINITY, f64::INFINITY), |(low, high)| (low as f64, high as f64));
    (number.is_nan() || (low..=high).contains(&number)).then_some(number)
}
