//! Tables of functions of known elements.

use super::affine::Affine;
use super::levels::Level;
use super::region::{Area, Region};
use super::state::State;
use super::table::{Axis, Linear, Table, axes, tabulated};
use smallvec::SmallVec;

/// The relative difference that implementations of a function may have where it is not rounded correctly, also in narrow types.
const MARGIN: f64 = 0.01;

/// The behaviour of a function on numbers that differ little.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Its results differ little, and every implementation rounds them alike.
    Smooth,
    /// Its results differ little; implementations round as they like.
    Approximate,
    /// It tells some of them apart.
    Jump,
}

/// The known elements of a value that no input decides.
enum Source<'a> {
    Number(Linear),
    Table(&'a Table),
    /// Constants, with their half-spaces.
    Levels(Vec<(f64, Vec<Vec<Linear>>)>),
}

impl<'a> Source<'a> {
    fn of(state: &'a State) -> Option<Self> {
        if !state.is_static() {
            return None;
        }
        if let Some(number) = &state.number {
            return Some(Source::Number(Linear::new(number)));
        }
        if let Some(table) = &state.table {
            return Some(Source::Table(table));
        }
        if !state.levels.cover_all() {
            return None;
        }
        let region = |region: &Region| region.spaces().iter().map(Linear::new).collect();
        let level =
            |(level, area): (Level, &Area)| Some((level.as_constant()?, area.regions().iter().map(region).collect()));
        state.levels.iter().map(level).collect::<Option<_>>().map(Source::Levels)
    }

    /// The functions of the index that it depends on.
    fn forms(&self) -> Vec<&Affine> {
        match self {
            Source::Number(number) => vec![&number.form],
            Source::Table(table) => table.axes.iter().map(|axis| &axis.form).collect(),
            Source::Levels(levels) => {
                let spaces = levels.iter().flat_map(|(_, regions)| regions.iter().flatten());
                spaces.map(|space| &space.form).collect()
            }
        }
    }

    fn value(&self, axes: &[Axis], at: &[i64]) -> Option<f64> {
        match self {
            Source::Number(number) => number.value(axes, at).map(|value| value as f64),
            Source::Table(table) => table.value(axes, at),
            Source::Levels(levels) => {
                let inside = |space: &Linear| space.value(axes, at).is_some_and(|value| value >= 0);
                let has = |regions: &Vec<Vec<Linear>>| regions.iter().any(|spaces| spaces.iter().all(inside));
                levels.iter().find(|(_, regions)| has(regions)).map(|(value, _)| *value)
            }
        }
    }
}

/// The values of a function of elements, each known of themselves; `None` when they are not known, the function has none
/// or there are too many.
pub(super) fn tabulate(states: &[&State], kind: Kind, function: impl Fn(&[f64]) -> Option<f64>) -> Option<Table> {
    let sources: Vec<Source<'_>> = states.iter().map(|state| Source::of(state)).collect::<Option<_>>()?;
    let forms: Vec<&Affine> = sources.iter().flat_map(Source::forms).collect();
    let axes = axes(&forms)?;
    let exact = sources.iter().all(|source| !matches!(source, Source::Table(Table { exact: false, .. })));
    let value = |at: &[i64]| {
        let values = sources.iter().map(|source| source.value(&axes, at));
        let mut values: SmallVec<[f64; 3]> = values.collect::<Option<_>>()?;
        let result = function(&values)?;
        // A difference of numbers that are not exact may be 0 for one implementation alone.
        let mut robust = exact || result != 0.0 || kind == Kind::Jump || values.contains(&0.0);
        for by in [1.0 - MARGIN, 1.0 + MARGIN].into_iter().filter(|_| !exact && kind == Kind::Jump) {
            values[0] *= by;
            robust &= function(&values)? == result;
            values[0] /= by;
        }
        robust.then_some(result)
    };
    let exact = kind == Kind::Jump || (exact && kind == Kind::Smooth);
    Some(Table { values: tabulated(&axes, value)?, axes, exact })
}
