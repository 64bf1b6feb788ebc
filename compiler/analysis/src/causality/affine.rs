//! Affine functions of the digits of an index.

use smallvec::{SmallVec, smallvec};

/// A factor of a dimension of a value: `index[dim] / stride % size`.
///
/// The dimensions of a value are products of factors, and which ones matter depends on what was reshaped into them. So
/// digits name factors where they are needed: `[group * seq, dim]` has its position along `seq` at
/// `Digit { dim: 0, stride: 1, size: seq }`. A dimension as a whole is a digit of stride 1 and its size.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Digit {
    /// The dimension.
    pub dim: usize,
    /// Positions of the dimension for each step of the digit.
    pub stride: usize,
    /// Number of values of the digit.
    pub size: usize,
}

impl Digit {
    /// A dimension as a whole.
    pub(crate) fn whole(dim: usize, size: usize) -> Self {
        Self { dim, stride: 1, size }
    }

    /// The stride of the next higher digit.
    pub(super) fn end(self) -> usize {
        self.stride * self.size
    }
}

type Terms = SmallVec<[(Digit, i64); 2]>;

/// `constant + sum of coefficient * digit`, in a form in which equal functions look alike where digits divide each other.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Affine {
    constant: i64,
    terms: Terms,
}

impl From<i64> for Affine {
    fn from(constant: i64) -> Self {
        Self { constant, terms: Terms::new() }
    }
}

impl From<Digit> for Affine {
    fn from(digit: Digit) -> Self {
        let terms = if digit.size > 1 { smallvec![(digit, 1)] } else { Terms::new() };
        Self { constant: 0, terms }
    }
}

impl Affine {
    /// The digits with their coefficients.
    pub(super) fn terms(&self) -> &[(Digit, i64)] {
        &self.terms
    }

    /// The part without digits.
    pub(super) fn offset(&self) -> i64 {
        self.constant
    }

    /// Its value, when it is the same everywhere.
    pub(super) fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The least value over all indices.
    pub(super) fn low(&self) -> i64 {
        let least = |&(digit, by): &(Digit, i64)| by.min(0) * (digit.size as i64 - 1);
        self.constant + self.terms.iter().map(least).sum::<i64>()
    }

    /// The largest value over all indices.
    pub(super) fn high(&self) -> i64 {
        let most = |&(digit, by): &(Digit, i64)| by.max(0) * (digit.size as i64 - 1);
        self.constant + self.terms.iter().map(most).sum::<i64>()
    }

    /// Its value where digits have these values.
    pub(super) fn value(&self, at: &dyn Fn(Digit) -> i64) -> i64 {
        self.constant + self.terms.iter().map(|&(digit, by)| by * at(digit)).sum::<i64>()
    }

    pub(super) fn plus(&self, other: &Affine) -> Affine {
        let constant = self.constant + other.constant;
        let terms = match (&self.terms[..], &other.terms[..]) {
            (_, []) => self.terms.clone(),
            // Most sums are these, and are tidy already.
            ([], [_]) => other.terms.clone(),
            (&[a], &[b]) if a.0.dim < b.0.dim => smallvec![a, b],
            (&[a], &[b]) if a.0.dim > b.0.dim => smallvec![b, a],
            _ => tidy(self.terms.iter().chain(&other.terms).copied().collect()),
        };
        Affine { constant, terms }
    }

    pub(super) fn plus_constant(mut self, constant: i64) -> Affine {
        self.constant += constant;
        self
    }

    pub(super) fn negated(&self) -> Affine {
        let terms = self.terms.iter().map(|&(digit, by)| (digit, -by)).collect();
        Affine { constant: -self.constant, terms }
    }

    pub(super) fn minus(&self, other: &Affine) -> Affine {
        self.plus(&other.negated())
    }

    /// `by * self`; `None` when a number does not fit.
    pub(super) fn scaled(&self, by: i64) -> Option<Affine> {
        if by == 0 {
            return Some(0.into());
        }
        let fits = |number: i64| number.checked_mul(by).filter(|number| number.unsigned_abs() < 1 << 60);
        let terms = self.terms.iter().map(|&(digit, own)| Some((digit, fits(own)?))).collect::<Option<_>>()?;
        Some(Affine { constant: fits(self.constant)?, terms })
    }

    /// A function that is at least 0 in the same places, with coefficients as small as can be.
    pub(super) fn reduced(self) -> Affine {
        let common = self.terms.iter().fold(0, |common, (_, by)| divisor(common, by.unsigned_abs()));
        let Some(common) = i64::try_from(common).ok().filter(|common| *common > 1) else { return self };
        let terms = self.terms.iter().map(|&(digit, by)| (digit, by / common)).collect();
        Affine { constant: self.constant.div_euclid(common), terms }
    }

    /// The coefficient of a digit and everything else.
    pub(super) fn without(&self, digit: Digit) -> (i64, Affine) {
        let found = self.terms.iter().find(|(own, _)| *own == digit).map_or(0, |(_, by)| *by);
        let terms = self.terms.iter().filter(|(own, _)| *own != digit).copied().collect();
        (found, Affine { constant: self.constant, terms })
    }

    /// Replaces digits; `None` when one has no replacement.
    pub(super) fn replaced(&self, with: &dyn Fn(Digit) -> Option<Affine>) -> Option<Affine> {
        let mut all = Affine::from(self.constant);
        for &(digit, by) in &self.terms {
            let new = with(digit)?;
            all = all.plus(&if by == 1 { new } else { new.scaled(by)? });
        }
        Some(all)
    }

    /// The same function over digits split at these strides of one dimension.
    pub(super) fn split(&self, dim: usize, at: &[usize]) -> Affine {
        let mut terms: Terms = self.terms.iter().flat_map(|&term| pieces(term, dim, at)).collect();
        terms.sort_unstable();
        Affine { constant: self.constant, terms: add_equal(terms) }
    }
}

/// The greatest common divisor.
fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// Strides at which digits of a dimension begin and end, or `None` when one does not divide the next.
pub(super) fn boundaries(digits: impl Iterator<Item = Digit>) -> Option<SmallVec<[usize; 4]>> {
    let mut all: SmallVec<[usize; 4]> = digits.flat_map(|digit| [digit.stride, digit.end()]).collect();
    all.sort_unstable();
    all.dedup();
    all.windows(2).all(|pair| pair[1].is_multiple_of(pair[0])).then_some(all)
}

/// A term in parts between the strides `at`.
fn pieces((digit, by): (Digit, i64), dim: usize, at: &[usize]) -> Terms {
    if digit.dim != dim {
        return smallvec![(digit, by)];
    }
    let inside = at.iter().copied().filter(|&stride| digit.stride < stride && stride < digit.end());
    let mut start = digit.stride;
    let mut parts = Terms::new();
    for end in inside.chain([digit.end()]) {
        parts.push((Digit { dim, stride: start, size: end / start }, by * (start / digit.stride) as i64));
        start = end;
    }
    parts
}

/// Sorts terms, adds those of equal digits and joins neighbours that count one number.
fn tidy(mut terms: Terms) -> Terms {
    terms.sort_unstable();
    let mut terms = add_equal(terms);
    let overlap = |pair: &[(Digit, i64)]| pair[0].0.dim == pair[1].0.dim && pair[1].0.stride < pair[0].0.end();
    for at in 1..terms.len() {
        if overlap(&terms[at - 1..=at]) {
            terms = aligned(terms);
            break;
        }
    }
    joined(terms)
}

/// Sorted terms, equal digits added up.
fn add_equal(terms: Terms) -> Terms {
    let mut sums = Terms::new();
    for (digit, by) in terms {
        match sums.last_mut() {
            Some((last, sum)) if *last == digit => *sum += by,
            _ => sums.push((digit, by)),
        }
    }
    sums.retain(|(_, by)| *by != 0);
    sums
}

/// Terms with digits that are equal or apart, where their strides divide each other.
fn aligned(terms: Terms) -> Terms {
    let mut all = Terms::new();
    for group in terms.chunk_by(|a, b| a.0.dim == b.0.dim) {
        match boundaries(group.iter().map(|(digit, _)| *digit)) {
            Some(at) => all.extend(group.iter().flat_map(|&term| pieces(term, term.0.dim, &at))),
            None => all.extend_from_slice(group),
        }
    }
    all.sort_unstable();
    add_equal(all)
}

/// Sorted terms; neighbouring digits whose coefficients fit become one.
fn joined(terms: Terms) -> Terms {
    let mut all = Terms::new();
    for (digit, by) in terms {
        match all.last_mut() {
            Some((last, own))
                if last.dim == digit.dim
                    && last.end() == digit.stride
                    && own.checked_mul(last.size as i64) == Some(by) =>
            {
                last.size *= digit.size;
            }
            _ => all.push((digit, by)),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digit(stride: usize, size: usize) -> Affine {
        Affine::from(Digit { dim: 0, stride, size })
    }

    #[test]
    fn split_digits_join_again() {
        let whole = digit(1, 12);
        let parts = digit(1, 4).plus(&digit(4, 3).scaled(4).unwrap());
        assert_eq!(parts, whole);
        assert_eq!(whole.split(0, &[4]).terms().len(), 2);
        assert_eq!(whole.minus(&parts), Affine::from(0));
        assert_eq!(whole.minus(&digit(1, 4)), digit(4, 3).scaled(4).unwrap());
    }

    #[test]
    fn digits_that_cut_across_stay_apart_and_bounded() {
        let sum = digit(1, 4).plus(&digit(1, 6).negated());
        assert_eq!((sum.low(), sum.high()), (-5, 3));
        assert_eq!(sum.terms().len(), 2);
    }

    #[test]
    fn half_spaces_are_reduced() {
        let triple = |constant: i64| digit(1, 4).scaled(3).unwrap().plus_constant(constant).reduced();
        assert_eq!(triple(-4), digit(1, 4).plus_constant(-2));
        assert_eq!(triple(4), digit(1, 4).plus_constant(1));
        assert_eq!(Affine::from(5).reduced(), Affine::from(5));
    }

    #[test]
    fn digits_of_one_value_vanish() {
        assert_eq!(digit(3, 1), Affine::from(0));
        assert_eq!(digit(1, 5).plus_constant(2).as_constant(), None);
    }
}
