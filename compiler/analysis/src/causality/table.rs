//! Elements by value, where they depend on the index through one or two affine functions of it and on nothing else: what
//! arithmetic on positions makes, whatever it is.

use super::affine::{Affine, Digit};
use super::levels::{FILL, Levels, Substitution};
use super::structure::{corners, runs, strips};
use smallvec::{SmallVec, smallvec};

/// How many values a table has at most.
const MAX_VALUES: usize = 1 << 16;

/// A function of the index without a constant, its first coefficient positive and all of them without a common divisor, and
/// how many values it has from `low` on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Axis {
    pub(super) form: Affine,
    low: i64,
    size: usize,
}

impl Axis {
    fn new(form: Affine) -> Option<Self> {
        let (low, high) = (form.low(), form.high());
        let size = usize::try_from(high - low + 1).ok().filter(|size| *size <= MAX_VALUES)?;
        Some(Self { form, low, size })
    }
}

/// An affine function as `offset + scale * form`, where `form` is what axes are made of.
pub(super) struct Linear {
    offset: i64,
    scale: i64,
    pub(super) form: Affine,
}

impl Linear {
    pub(super) fn new(function: &Affine) -> Self {
        let offset = function.offset();
        let form = function.clone().plus_constant(-offset).reduced();
        let sign = |form: &Affine| form.terms().first().map_or(1, |(_, by)| by.signum());
        let form = if sign(&form) < 0 { form.negated() } else { form };
        let scale = match (function.terms().first(), form.terms().first()) {
            (Some((_, whole)), Some((_, part))) => whole / part,
            _ => 0,
        };
        Self { offset, scale, form }
    }

    /// Its value where the axes have these values; `None` when they do not say.
    pub(super) fn value(&self, axes: &[Axis], at: &[i64]) -> Option<i64> {
        Some(self.offset + self.scale * along(&self.form, axes, at)?)
    }
}

/// The value of a form where the axes have these values.
fn along(form: &Affine, axes: &[Axis], at: &[i64]) -> Option<i64> {
    if form.terms().is_empty() {
        return Some(0);
    }
    if let Some(axis) = axes.iter().position(|axis| axis.form == *form) {
        return Some(at[axis]);
    }
    let mut sum = 0;
    for &(digit, by) in form.terms() {
        sum += by * at[axes.iter().position(|axis| axis.form == Affine::from(digit))?];
    }
    Some(sum)
}

/// Elements by the values of one or two axes, the last one counting fastest.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(super) axes: SmallVec<[Axis; 2]>,
    pub(super) values: Vec<f64>,
    /// Whether every implementation makes these bits. Otherwise zeros and infinities are the same everywhere, and other
    /// values differ by rounding.
    pub(super) exact: bool,
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        (&self.axes, self.exact) == (&other.axes, other.exact)
            && self.values.iter().map(|x| x.to_bits()).eq(other.values.iter().map(|x| x.to_bits()))
    }
}

impl Eq for Table {}

impl std::hash::Hash for Table {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (&self.axes, self.exact).hash(state);
        self.values.iter().for_each(|value| value.to_bits().hash(state));
    }
}

/// Axes on which all of some forms have values: the form itself, when there is one, or the digits that they are made of.
pub(super) fn axes(forms: &[&Affine]) -> Option<SmallVec<[Axis; 2]>> {
    let mut distinct: SmallVec<[&Affine; 2]> = smallvec![];
    for form in forms.iter().filter(|form| !form.terms().is_empty()) {
        if !distinct.contains(form) {
            distinct.push(form);
        }
    }
    let mut digits: Vec<Digit> = distinct.iter().flat_map(|form| form.terms()).map(|(digit, _)| *digit).collect();
    digits.sort_unstable();
    digits.dedup();
    let axes: SmallVec<[Axis; 2]> = match (distinct.as_slice(), digits.len()) {
        ([], _) => SmallVec::new(),
        (&[one], _) => smallvec![Axis::new(one.clone())?],
        (_, 2) => digits.iter().map(|&digit| Axis::new(digit.into())).collect::<Option<_>>()?,
        _ => return None,
    };
    (axes.iter().map(|axis| axis.size).product::<usize>() <= MAX_VALUES).then_some(axes)
}

/// A function of the values of axes at each of them.
pub(super) fn tabulated(axes: &[Axis], value: impl Fn(&[i64]) -> Option<f64>) -> Option<Vec<f64>> {
    let count: usize = axes.iter().map(|axis| axis.size).product();
    let at = |mut index: usize| {
        let mut at: SmallVec<[i64; 2]> = smallvec![0; axes.len()];
        for (axis, at) in axes.iter().zip(&mut at).rev() {
            *at = axis.low + (index % axis.size) as i64;
            index /= axis.size;
        }
        value(&at)
    };
    (0..count).map(at).collect()
}

impl Table {
    /// The element where other axes have these values.
    pub(super) fn value(&self, axes: &[Axis], at: &[i64]) -> Option<f64> {
        self.at(self.axes.iter().map(|axis| along(&axis.form, axes, at)))
    }

    /// The element where its own axes have these values. Digits that overlap have values together that no index has.
    fn at(&self, values: impl Iterator<Item = Option<i64>>) -> Option<f64> {
        let mut index = 0;
        for (axis, value) in self.axes.iter().zip(values) {
            index = index * axis.size + (value? - axis.low).clamp(0, axis.size as i64 - 1) as usize;
        }
        self.values.get(index).copied()
    }

    /// The table of the elements elsewhere.
    pub(super) fn carried(&self, substitution: &Substitution<'_>) -> Option<Table> {
        let forms = self.axes.iter().map(|axis| axis.form.replaced(substitution)).collect::<Option<Vec<_>>>()?;
        let linear: Vec<Linear> = forms.iter().map(Linear::new).collect();
        let axes = axes(&linear.iter().map(|linear| &linear.form).collect::<Vec<_>>())?;
        let value = |at: &[i64]| self.at(linear.iter().map(|linear| linear.value(&axes, at)));
        Some(Table { values: tabulated(&axes, value)?, axes, exact: self.exact })
    }

    /// The levels of elements that are 0, infinite or fills, and whether all of these have one.
    pub(super) fn levels(&self) -> (Levels, bool) {
        match self.axes.as_slice() {
            [] => (self.values.first().map(|value| Levels::splat(*value)).unwrap_or_default(), true),
            [axis] => match runs(&self.values, &axis.form, axis.low) {
                Some(levels) => (levels, true),
                None => strips(&self.values, &axis.form, axis.low),
            },
            [row, column] => self.plane(row, column),
            _ => (Levels::default(), false),
        }
    }

    /// Whether some elements are fills.
    pub(super) fn has_fills(&self) -> bool {
        self.values.iter().any(|value| value.abs() >= FILL)
    }

    /// The same over two digits; those of functions of one of them, or of their difference, exactly.
    fn plane(&self, row: &Axis, column: &Axis) -> (Levels, bool) {
        let rows = || self.values.chunks(column.size);
        let line = |values: Vec<f64>, form: &Affine, low: i64| {
            let axes = smallvec![Axis { form: form.clone(), low, size: values.len() }];
            Table { axes, values, exact: self.exact }.levels()
        };
        let equal = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a == b);
        if rows().all(|row| equal(row, &self.values[..column.size])) {
            return line(self.values[..column.size].to_vec(), &column.form, column.low);
        }
        if rows().all(|row| row.iter().all(|value| *value == row[0])) {
            return line(rows().map(|row| row[0]).collect(), &row.form, row.low);
        }
        let offset = column.form.minus(&row.form);
        if row.low == 0 && column.low == 0 && rows().zip(rows().skip(1)).all(|(a, b)| equal(a, &b[1..])) {
            let left = rows().rev().map(|row| row[0]);
            let values = left.chain(self.values[1..column.size].iter().copied()).collect();
            return line(values, &offset, 1 - row.size as i64);
        }
        corners(&self.values, column.size, &offset)
    }
}
