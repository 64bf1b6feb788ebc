//! The structure of values in order: runs of equal ones, and where many different ones are 0, infinite or fills.

use super::affine::Affine;
use super::levels::{FILL, Level, Levels};
use super::region::{Area, Region};

/// How many strips of zeros and fills are kept.
const MAX_STRIPS: usize = 5;

/// How many runs of equal elements are taken for structure.
const MAX_RUNS: usize = 5;

/// The kind of a value: zero, infinite, a low or high fill, a score, or not a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Zero,
    Infinity,
    NegativeInfinity,
    Low,
    High,
    /// Any other: a score.
    Score,
    NotANumber,
}

impl Kind {
    fn of(value: f64) -> Self {
        match value {
            0.0 => Kind::Zero,
            f64::INFINITY => Kind::Infinity,
            f64::NEG_INFINITY => Kind::NegativeInfinity,
            _ if value.is_nan() => Kind::NotANumber,
            _ if value <= -FILL => Kind::Low,
            _ if value >= FILL => Kind::High,
            _ => Kind::Score,
        }
    }
}

/// The level of values of one kind: the constant that they are, or the fill beyond which they lie. `None` for scores, and
/// for fills that begin so close to other values that they are scores as well, as those of a slope are.
fn level(kind: Kind, values: impl Iterator<Item = f64> + Clone, others: impl Iterator<Item = f64>) -> Option<Level> {
    let (low, high) = range(values);
    if kind != Kind::Score && low == high {
        return Some(Level::constant(low));
    }
    let (least, most) = range(others);
    match kind {
        Kind::Low if least - high >= FILL => Some(Level::beyond(high)),
        Kind::High if low - most >= FILL => Some(Level::beyond(low)),
        _ => None,
    }
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

/// The strips of zeros and fills among values by a function of the index that counts from `first`, and whether these are
/// all.
pub(super) fn strips(values: &[f64], at: &Affine, first: i64) -> (Levels, bool) {
    let mut strips: Vec<(usize, usize)> = Vec::new();
    let mut start = 0;
    for run in values.chunk_by(|a, b| Kind::of(*a) == Kind::of(*b)) {
        strips.push((start, start + run.len()));
        start += run.len();
    }
    let mut complete = !values.iter().any(|value| value.is_nan());
    strips.retain(|(start, _)| !matches!(Kind::of(values[*start]), Kind::Score | Kind::NotANumber));
    strips.sort_by_key(|(start, end)| (std::cmp::Reverse(end - start), *start));
    complete &= strips.len() <= MAX_STRIPS;
    let mut levels = Levels::default();
    for &(start, end) in strips.iter().take(MAX_STRIPS) {
        let beside = [start.checked_sub(1), Some(end)].into_iter().flatten().filter_map(|at| values.get(at).copied());
        let Some(level) = level(Kind::of(values[start]), values[start..end].iter().copied(), beside) else { continue };
        let (low, high) = (first + start as i64, first + end as i64 - 1);
        if let Some(region) = Region::new([at.clone().plus_constant(-low), at.negated().plus_constant(high)]) {
            complete &= levels.add(level, &region.into());
        }
    }
    (levels, complete)
}

/// The corners of a matrix in rows of `width` that hold nothing but zeros or fills, upper right and lower left, where
/// `offset` is column minus row; whether all zeros and fills are in them.
pub(super) fn corners(values: &[f64], width: usize, offset: &Affine) -> (Levels, bool) {
    let diagonal = |index: usize| (index % width) as i64 - (index / width) as i64;
    let indexed = || values.iter().copied().enumerate();
    let (upper, lower) = (Kind::of(values[width - 1]), Kind::of(values[values.len() - width]));
    let others = |kind: Kind| indexed().filter(move |(_, value)| Kind::of(*value) != kind).map(|(at, _)| diagonal(at));
    let last = others(upper).max().unwrap_or(i64::MIN / 2);
    let first = others(lower).min().unwrap_or(i64::MAX / 2);
    let mut levels = Levels::default();
    let mut covered: Vec<Box<dyn Fn(i64) -> bool>> = Vec::new();
    for (kind, is_upper) in [(upper, true), (lower, false)] {
        let inside = move |diagonal: i64| if is_upper { diagonal > last } else { diagonal < first };
        let within = indexed().filter(|(at, _)| inside(diagonal(*at))).map(|(_, value)| value);
        let beside = indexed().filter(|(at, _)| !inside(diagonal(*at))).map(|(_, value)| value);
        let beside = beside.filter(|value| Kind::of(*value) != kind);
        let space =
            if is_upper { offset.clone().plus_constant(-1 - last) } else { offset.negated().plus_constant(first - 1) };
        if let Some((level, region)) = level(kind, within, beside).zip(Region::new([space])) {
            levels.add(level, &region.into());
            covered.push(Box::new(inside));
        }
    }
    let is_known =
        |(at, value): (usize, f64)| Kind::of(value) == Kind::Score || covered.iter().any(|inside| inside(diagonal(at)));
    let complete = indexed().all(is_known);
    (levels, complete)
}

/// A few runs of equal values, where `at` counts from `first`.
pub(super) fn runs(values: &[f64], at: &Affine, first: i64) -> Option<Levels> {
    let mut levels = Levels::default();
    let mut start = first;
    for (count, run) in values.chunk_by(|a, b| a == b).enumerate() {
        let end = start + run.len() as i64;
        let spaces = [at.clone().plus_constant(-start), at.negated().plus_constant(end - 1)];
        let region = Region::new(spaces)?;
        if count == MAX_RUNS || !levels.add(Level::constant(run[0]), &Area::from(region)) {
            return None;
        }
        start = end;
    }
    Some(levels)
}
