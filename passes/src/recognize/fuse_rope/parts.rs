//! Parts of the spellings of rope.

use crate::recognize::rewrite::{
    Bindings, MatchCx, MatchResult, Pattern, Rule, Side, Writer, concatenate, constant_value, cosine, divide, either,
    half, multiply, sine, tensor,
};
use halite_ir::{Attr, Real, Value};
use halite_support::Result;

/// The base that is named where there is one pair only, whose frequency is 1 for any.
const DEFAULT_THETA: f64 = 10_000.0;

/// The dimension of the positions, and the base of the frequencies.
struct Geometry {
    /// The dimension of the positions.
    positions: usize,
    theta: f64,
}

/// The angle of each position and pair.
pub(super) fn angle() -> Pattern {
    either([multiply(tensor("position"), tensor("frequency")), divide(tensor("position"), tensor("period"))])
}

/// Cosine or sine for each position and pair.
fn of_pairs(function: fn(Pattern) -> Pattern) -> Pattern {
    let table = || function(concatenate([angle(), angle()]));
    either([function(angle()), half(Side::First, table()), half(Side::Second, table())])
}

/// Cosine or sine for each position and element, the same in both halves.
fn of_elements(function: fn(Pattern) -> Pattern) -> Pattern {
    let angles = concatenate([angle(), angle()]);
    either([function(angles), concatenate([function(angle()), function(angle())])])
}

/// The cosines of pairs.
pub(super) fn pair_cosine() -> Pattern {
    of_pairs(cosine)
}

/// The sines of pairs.
pub(super) fn pair_sine() -> Pattern {
    of_pairs(sine)
}

/// The cosines of elements.
pub(super) fn element_cosine() -> Pattern {
    of_elements(cosine)
}

/// The sines of elements.
pub(super) fn element_sine() -> Pattern {
    of_elements(sine)
}

/// A rule for rope in one direction.
pub(super) fn rope(name: &'static str, inverse: bool, pattern: Pattern) -> Rule {
    let rule = Rule::new(name, "rope", pattern).operand("x").when(is_rope).write(write);
    if inverse { rule.attributes(backward) } else { rule.attributes(theta) }
}

fn is_rope(bindings: &Bindings, cx: &MatchCx<'_>) -> MatchResult {
    geometry(bindings, cx).map(drop)
}

fn theta(bindings: &Bindings, cx: &MatchCx<'_>) -> Vec<(&'static str, Attr)> {
    geometry(bindings, cx).map(|own| vec![("theta", Attr::Real(Real(own.theta)))]).unwrap_or_default()
}

fn backward(bindings: &Bindings, cx: &MatchCx<'_>) -> Vec<(&'static str, Attr)> {
    let mut attributes = theta(bindings, cx);
    attributes.push(("inverse", Attr::Bool(true)));
    attributes
}

/// Rope between transposes that bring the positions to dimension 1, where they are elsewhere.
fn write(writer: &mut Writer<'_, '_>) -> Result<Value> {
    let x = writer.operand("x")?;
    if geometry(writer.bindings, &writer.cx).is_ok_and(|own| own.positions == 1) {
        return writer.composite(&[x]);
    }
    let swap = [0, 2, 1, 3];
    let x = writer.b.transpose(x, &swap)?;
    let y = writer.composite(&[x])?;
    writer.b.transpose(y, &swap)
}

/// Reads the geometry from the tables, or says why they are not those of rope.
fn geometry(bindings: &Bindings, cx: &MatchCx<'_>) -> std::result::Result<Geometry, String> {
    let error = |message: &str| Err(message.to_owned());
    if cx.shape().rank() != 4 {
        return error("`rope` takes four dimensions");
    }
    let (Some((places, positions)), Some(theta)) = (vector(bindings, cx, "position"), base(bindings, cx)?) else {
        return error("positions or frequencies are not known before the program runs");
    };
    if !positions.iter().enumerate().all(|(at, &position)| position == at as f64) {
        return error("the positions are not 0, 1, 2, and so on");
    }
    match places {
        Some(positions @ (1 | 2)) => Ok(Geometry { positions, theta }),
        _ => error("the positions are neither dimension 1 nor dimension 2"),
    }
}

/// The base of the frequencies; `None` when these are not known.
fn base(bindings: &Bindings, cx: &MatchCx<'_>) -> std::result::Result<Option<f64>, String> {
    let frequencies = vector(bindings, cx, "frequency");
    let periods =
        || vector(bindings, cx, "period").map(|(at, periods)| (at, periods.into_iter().map(f64::recip).collect()));
    let Some((place, frequencies)) = frequencies.or_else(periods) else { return Ok(None) };
    let frequencies: Vec<f64> = frequencies;
    let pairs = frequencies.len();
    if pairs > 1 && place != cx.last() {
        return Err("the frequencies are not those of the last dimension".to_owned());
    }
    let Some(&least) = frequencies.last() else { return Ok(None) };
    let tolerance = 32.0 * cx.dtype().unit_roundoff().min(f64::from(f32::EPSILON));
    let theta = match pairs {
        1 => DEFAULT_THETA,
        _ => snapped(least.powf(-(pairs as f64) / (pairs - 1) as f64), tolerance),
    };
    let near = |(pair, frequency): (usize, &f64)| {
        let wanted = theta.powf(-(pair as f64) / pairs as f64);
        (frequency - wanted).abs() <= tolerance * wanted
    };
    if frequencies.iter().enumerate().all(near) {
        return Ok(Some(theta));
    }
    Err("the frequencies are not the powers of one base".to_owned())
}

/// The whole number that `number` may be, up to a relative tolerance; else itself.
fn snapped(number: f64, tolerance: f64) -> f64 {
    let whole = number.round();
    if (number - whole).abs() <= tolerance * whole { whole } else { number }
}

/// A vector that is known, and the dimension of the root along which it lies.
fn vector(bindings: &Bindings, cx: &MatchCx<'_>, name: &str) -> Option<(Option<usize>, Vec<f64>)> {
    let base = &bindings.tensor(name)?.base;
    let mut places = base.dim_map.iter().copied().flatten();
    let place = places.next();
    let values = places.next().is_none().then(|| constant_value(cx.registry, cx.function, base.value))??;
    values.dtype().is_float().then(|| (place, values.f64s()))
}
