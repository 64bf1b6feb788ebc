//! Levels: the values of elements where they are known, as constants or as fills that lie far from every score.

use super::affine::{Affine, Digit};
use super::region::{Area, Region};
use halite_tensor::{DType, HostTensor};

/// The place of each digit of one value in another; `None` for digits that have no place there.
pub(super) type Substitution<'a> = dyn Fn(Digit) -> Option<Affine> + 'a;

/// A value at least this far from 0 may be the fill of a mask; its exponential is below the roundoff of `f32`.
pub(super) const FILL: f64 = 16.0;

/// The value of elements: `base`, plus or minus at most `spread` times the bound on scores that the analysis assumes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    /// The number without scores.
    pub(crate) base: f64,
    /// How many scores may be added to it; 0 for a constant.
    pub(crate) spread: f64,
    /// Whether elements may also be further from 0 than that.
    pub(crate) open: bool,
}

impl PartialEq for Level {
    fn eq(&self, other: &Self) -> bool {
        (self.base.to_bits(), self.spread.to_bits(), self.open)
            == (other.base.to_bits(), other.spread.to_bits(), other.open)
    }
}

impl Eq for Level {}

impl std::hash::Hash for Level {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.base.to_bits(), self.spread.to_bits(), self.open).hash(state);
    }
}

impl Level {
    /// A number; zeros of both signs are one.
    pub(super) fn constant(value: f64) -> Self {
        Self { base: value + 0.0, spread: 0.0, open: false }
    }

    /// Numbers that are this or further from 0.
    pub(super) fn beyond(value: f64) -> Self {
        Self { base: value, spread: 0.0, open: true }
    }

    /// Its number, when no score is added.
    pub(super) fn as_constant(self) -> Option<f64> {
        self.is_constant().then_some(self.base)
    }

    fn is_constant(self) -> bool {
        self.spread == 0.0 && !self.open
    }

    /// Whether it is below every score, as the fill of a mask is.
    pub(super) fn is_low(self) -> bool {
        self.base <= -FILL
    }

    /// Whether it is too far from 0 for a score.
    pub(super) fn is_fill(self) -> bool {
        self.base.abs() >= FILL
    }

    /// As a value of an element type.
    pub(super) fn rounded(self, dtype: DType) -> Self {
        Self { base: round(dtype, self.base), ..self }
    }
}

/// The nearest value of an element type.
pub(super) fn round(dtype: DType, value: f64) -> f64 {
    match dtype {
        DType::F64 => value,
        DType::F32 => f64::from(value as f32),
        _ => HostTensor::scalar(dtype, value).f64s()[0],
    }
}

/// Levels and where elements have them. Regions of different levels do not overlap.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Levels(Vec<(Level, Area)>);

impl Levels {
    /// One constant for all elements.
    pub(super) fn splat(value: f64) -> Self {
        Self(vec![(Level::constant(value), Area::everywhere())])
    }

    /// Every level with its area.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Level, &Area)> {
        self.0.iter().map(|(level, area)| (*level, area))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The constant that all elements are.
    pub(super) fn everywhere(&self) -> Option<f64> {
        match self.0.as_slice() {
            [(level, area)] if area.is_everywhere() => level.as_constant(),
            _ => None,
        }
    }

    /// The area where elements are exactly `value`.
    pub(super) fn area_of(&self, value: f64) -> Option<&Area> {
        self.0.iter().find(|(level, _)| *level == Level::constant(value)).map(|(_, area)| area)
    }

    /// The area of the levels that `which` picks.
    pub(super) fn area(&self, which: impl Fn(Level) -> bool) -> Area {
        let mut all = Area::default();
        for (_, area) in self.0.iter().filter(|(level, _)| which(*level)) {
            all.add_all(area);
        }
        all
    }

    /// The area where elements are constants.
    pub(super) fn constants(&self) -> Area {
        self.area(Level::is_constant)
    }

    /// Whether every element has a level.
    pub(super) fn cover_all(&self) -> bool {
        self.area(|_| true).covers_all()
    }

    /// Adds a level; false when parts of it were left out.
    pub(super) fn add(&mut self, level: Level, area: &Area) -> bool {
        if area.is_empty() || level.base.is_nan() {
            return !level.base.is_nan();
        }
        if let Some((_, own)) = self.0.iter_mut().find(|(own, _)| *own == level) {
            return own.add_all(area);
        }
        self.0.push((level, area.clone()));
        self.0.sort_by(|(a, _), (b, _)| {
            a.base.total_cmp(&b.base).then(a.spread.total_cmp(&b.spread)).then(a.open.cmp(&b.open))
        });
        true
    }

    /// Adds all of another; false when parts were left out.
    pub(super) fn add_all(&mut self, other: &Levels) -> bool {
        let mut complete = true;
        for (level, area) in &other.0 {
            complete &= self.add(*level, area);
        }
        complete
    }

    /// The parts inside `area`, and whether nothing was left out.
    pub(super) fn within(&self, area: &Area) -> (Levels, bool) {
        let (mut inside, mut complete) = (Levels::default(), true);
        for (level, own) in &self.0 {
            let (both, all) = own.and(area);
            complete &= all & inside.add(*level, &both);
        }
        (inside, complete)
    }

    /// Other levels in the same places; `None` forgets one.
    pub(super) fn map(&self, to: impl Fn(Level) -> Option<Level>) -> Levels {
        let mut all = Levels::default();
        for (level, area) in &self.0 {
            if let Some(level) = to(*level) {
                all.add(level, area);
            }
        }
        all
    }

    /// The levels elsewhere; where a digit has no place, those that hold for all of its values. False when parts were
    /// left out.
    pub(super) fn carried(&self, substitution: &Substitution<'_>) -> (Levels, bool) {
        let (mut carried, mut complete) = (Levels::default(), true);
        for (level, area) in &self.0 {
            let mut there = Area::default();
            for region in area.regions() {
                let (region, exact) = carried_region(region, substitution);
                complete &= region.is_none_or(|region| there.add(region)) && exact;
            }
            complete &= carried.add(*level, &there);
        }
        (carried, complete)
    }
}

/// The part of a region for which all values of the digits without a place agree, in terms of the others; whether that is
/// all of it.
fn carried_region(region: &Region, substitution: &Substitution<'_>) -> (Option<Region>, bool) {
    let mut exact = true;
    let spaces: Vec<_> = region
        .spaces()
        .iter()
        .map(|space| {
            space.replaced(substitution).unwrap_or_else(|| {
                exact = false;
                least(space, substitution)
            })
        })
        .collect();
    (Region::new(spaces), exact)
}

/// A lower bound of an affine function under a substitution, for all values of the digits without a place.
fn least(form: &Affine, substitution: &Substitution<'_>) -> Affine {
    let mut all = Affine::from(form.offset());
    for &(digit, by) in form.terms() {
        let part = substitution(digit).and_then(|new| new.scaled(by));
        all = all.plus(&part.unwrap_or_else(|| (by.min(0) * (digit.size as i64 - 1)).into()));
    }
    all
}
