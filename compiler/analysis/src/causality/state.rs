//! The state of a value: its elements as far as they are known, and the tokens that they depend on.

use super::affine::Affine;
use super::flow::Flow;
use super::levels::{Level, Levels, Substitution};
use super::region::{Area, Region};
use super::table::Table;
use halite_tensor::DType;
use std::rc::Rc;

/// The facts of the causality analysis about one value.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct State {
    /// The elements as a function of their index; exact.
    pub(crate) number: Option<Affine>,
    /// A function of the index of which the elements are the magnitudes; exact.
    pub(crate) magnitude: Option<Affine>,
    /// The elements by value, where they are no such function, but of one or two of them.
    pub(crate) table: Option<Rc<Table>>,
    /// Elements that are constants or fills. Others are scores: bounded by the number that the verdict states.
    pub(crate) levels: Levels,
    /// Whether elements without a level may be fills all the same.
    pub(crate) mixed: bool,
    /// Whether elements without a level may all be fills at once, so that nothing bounds them.
    pub(crate) unbounded: bool,
    /// Whether elements without a level may be 0, false or fills by a mask that depends on no token and is not followed.
    pub(crate) unsure: bool,
    /// Whether no element is 0 or a fill, although they are not known.
    pub(crate) nonzero: bool,
    /// Whether elements may be infinite although no input is large: exponentials grow so.
    pub(crate) grows: bool,
    /// The tokens that elements depend on; constants depend on none.
    pub(crate) flow: Flow,
}

impl State {
    /// One constant for all elements.
    pub(super) fn splat(value: f64) -> Self {
        let whole = (value.fract() == 0.0 && value.abs() <= WHOLE).then_some(value as i64);
        Self { number: whole.map(Affine::from), levels: Levels::splat(value), ..Self::default() }
    }

    /// Elements that a table has.
    pub(super) fn tabulated(table: Table) -> Self {
        let (levels, complete) = table.levels();
        let mixed = !complete && table.has_fills();
        Self { levels, table: Some(Rc::new(table)), mixed, unsure: !complete, ..Self::default() }
    }

    /// A value of which only the dependencies are known.
    pub(super) fn flowing(flow: Flow) -> Self {
        Self { flow, ..Self::default() }
    }

    /// Numbers that are a function of the index, where an element type holds them exactly.
    pub(super) fn counting(number: Affine, dtype: DType) -> Self {
        let mut state = Self::default();
        if let Some(value) = number.as_constant() {
            state = Self::splat(value as f64);
        }
        state.number = Some(number).filter(|number| is_exact(number, dtype));
        state
    }

    /// Whether it depends on no token.
    pub(super) fn is_static(&self) -> bool {
        self.flow.is_static()
    }

    /// Whether positions and constants decide its elements, and no input.
    pub(super) fn is_counted(&self) -> bool {
        self.is_static() && (self.number.is_some() || self.table.is_some() || self.unsure || !self.levels.is_empty())
    }

    /// Whether some elements are not known and may be 0 or false all the same.
    pub(super) fn hides_zeros(&self) -> bool {
        self.unsure && !self.nonzero && !self.levels.cover_all()
    }

    /// Whether positions alone decide which elements are fills, and some of these are not known.
    pub(super) fn hides_fills(&self) -> bool {
        self.mixed && self.is_static() && self.hides_zeros()
    }

    /// Whether its zeros are known by its number alone.
    fn is_uncovered(&self) -> bool {
        self.number.is_some() && !self.levels.cover_all()
    }

    /// Notes that fills were forgotten.
    pub(super) fn forget_fills(&mut self) {
        (self.mixed, self.unsure) = (true, true);
    }

    /// Restricts dependencies to the elements that are not constants.
    pub(super) fn settled(mut self) -> Self {
        if !self.flow.is_static() {
            let constants = self.levels.constants();
            if !constants.is_empty() {
                let (others, exact) = constants.complement();
                let flow = self.flow.within(&others);
                self.flow = if exact { flow } else { flow.made_vague() };
            }
        }
        self
    }

    /// Adds levels, and notes when some are lost that others rely on.
    pub(super) fn add_levels(&mut self, levels: &Levels, complete: bool) {
        let complete = self.levels.add_all(levels) && complete;
        self.mixed |= !complete && levels.iter().any(|(level, _)| level.is_fill());
        self.unsure |= !complete;
    }

    /// The value elsewhere; `number` says how the dimensions there number its elements.
    pub(super) fn renumbered(&self, substitution: &Substitution<'_>, number: &Substitution<'_>) -> State {
        let (levels, complete) = self.levels.carried(substitution);
        let lost = !complete && self.levels.iter().any(|(level, _)| level.is_fill());
        State {
            number: self.number.as_ref().and_then(|number| number.replaced(substitution)),
            magnitude: self.magnitude.as_ref().and_then(|number| number.replaced(substitution)),
            table: self.table.as_ref().and_then(|table| table.carried(substitution)).map(Rc::new),
            levels,
            mixed: self.mixed || lost,
            unbounded: self.unbounded,
            unsure: self.unsure || !complete,
            nonzero: self.nonzero,
            grows: self.grows,
            flow: self.flow.carried(substitution, number),
        }
    }

    /// The value elsewhere.
    pub(super) fn carried(&self, substitution: &Substitution<'_>) -> State {
        self.renumbered(substitution, substitution)
    }

    /// Only the elements in a region; nothing is known of the others, and they are not read.
    pub(super) fn within(&self, region: &Region) -> State {
        if region.is_everywhere() {
            return self.clone();
        }
        let (levels, complete) = self.levels.within(&Area::from(region.clone()));
        let lost = !complete && self.levels.iter().any(|(level, _)| level.is_fill());
        State {
            number: None,
            magnitude: None,
            table: None,
            levels,
            mixed: self.mixed || lost,
            unsure: self.unsure || !complete || self.is_uncovered(),
            flow: self.flow.within(std::slice::from_ref(region)),
            ..self.clone()
        }
    }

    /// Adds the elements of another part of the value.
    pub(super) fn absorb(&mut self, other: &State) {
        self.mixed |= other.mixed;
        self.unbounded |= other.unbounded;
        self.grows |= other.grows;
        self.nonzero &= other.nonzero;
        self.unsure |= other.unsure || self.is_uncovered() || other.is_uncovered();
        (self.number, self.magnitude, self.table) = (None, None, None);
        self.add_levels(&other.levels, true);
        self.flow.join(&other.flow);
    }

    /// Maps levels, e.g. through an element-wise function; forgotten fills are noted.
    pub(super) fn map_levels(&self, to: impl Fn(Level) -> Option<Level>) -> (Levels, bool) {
        let lost = self.levels.iter().any(|(level, _)| level.is_fill() && to(level).is_none());
        (self.levels.map(to), lost)
    }
}

/// Whole numbers up to here are exact in the arithmetic of the analysis.
const WHOLE: f64 = (1u64 << 53) as f64;

/// Whether an element type holds all values of a function exactly.
pub(super) fn is_exact(number: &Affine, dtype: DType) -> bool {
    let (low, high) = (i128::from(number.low()), i128::from(number.high()));
    let limit = dtype.significand_bits().map_or(1i128 << 53, |bits| 1i128 << bits);
    let (least, most) = dtype.int_range().unwrap_or((-limit, limit));
    low >= least.max(-limit) && high <= most.min(limit)
}
