//! Ranges of integers.

use crate::DType;
use std::fmt;
use std::ops::{Add, Mul, Neg, Sub};

/// Every integer from `low` to `high`. The arithmetic is that of whole numbers, without wrapping: results hold every value that
/// operands from the ranges can give, and [`ALL`](Self::ALL) says that nothing is known. What does not fit a type is its owner's to
/// cut.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IntRange {
    /// The least integer, included.
    pub low: i128,
    /// The greatest integer, included.
    pub high: i128,
}

impl IntRange {
    /// Zero alone.
    pub const ZERO: Self = Self { low: 0, high: 0 };
    /// Every integer.
    pub const ALL: Self = Self { low: i128::MIN, high: i128::MAX };

    /// From `low` to `high`, which is no less.
    pub fn new(low: i128, high: i128) -> Self {
        Self { low, high }
    }

    /// Every value of a type; `None` for floats.
    pub fn of(dtype: DType) -> Option<Self> {
        dtype.int_range().map(|(low, high)| Self { low, high })
    }

    /// Whether the other range holds every value of this one.
    pub fn within(self, other: Self) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    /// The values of either, and those between.
    pub fn union(self, other: Self) -> Self {
        Self::new(self.low.min(other.low), self.high.max(other.high))
    }

    /// The larger of two.
    pub fn maximum(self, other: Self) -> Self {
        self.corners(other, i128::max)
    }

    /// The smaller of two.
    pub fn minimum(self, other: Self) -> Self {
        self.corners(other, i128::min)
    }

    /// Magnitudes.
    pub fn abs(self) -> Self {
        if self.low >= 0 { self } else { Self::new(0, self.high.max(self.low.saturating_neg())) }
    }

    /// Quotients by positive integers, rounded towards zero.
    pub fn divide(self, by: Self) -> Self {
        if by.low > 0 { self.corners(by, |x, y| x / y) } else { Self::ALL }
    }

    /// Remainders of division by positive integers, with the sign of the dividend.
    pub fn remainder(self, by: Self) -> Self {
        if by.low <= 0 {
            return Self::ALL;
        }
        let largest = by.high - 1;
        Self::new(if self.low < 0 { self.low.max(-largest) } else { 0 }, self.high.clamp(0, largest))
    }

    /// `f` at the ends, for functions that are monotonic in each argument.
    fn corners(self, other: Self, f: impl Fn(i128, i128) -> i128) -> Self {
        let ends = [(self.low, other.low), (self.low, other.high), (self.high, other.low), (self.high, other.high)];
        let [a, b, c, d] = ends.map(|(x, y)| f(x, y));
        Self::new(a.min(b).min(c).min(d), a.max(b).max(c).max(d))
    }

    /// The sums of up to `count` values.
    pub fn sum_of(self, count: i128) -> Self {
        self * Self::new(0, count)
    }

    /// Bitwise `and` of two's complement integers: no more than an operand that is not negative.
    pub fn and(self, other: Self) -> Self {
        match (self.low >= 0, other.low >= 0) {
            (true, true) => Self::new(0, self.high.min(other.high)),
            (true, false) => Self::new(0, self.high),
            (false, true) => Self::new(0, other.high),
            (false, false) => Self::ALL,
        }
    }

    /// Bitwise `or` and `xor` of integers: no bit above the highest one, if none is negative.
    pub fn or(self, other: Self) -> Self {
        let either = self.union(other);
        if either.low < 0 {
            return Self::ALL;
        }
        let width = i128::BITS - either.high.leading_zeros();
        Self::new(0, (1i128 << width) - 1)
    }

    /// Shifts to the left of integers that are not negative, by less than 32.
    pub fn shift_left(self, amounts: Self) -> Self {
        if self.has_no_sign() && amounts.within(SHIFTS) { self.corners(amounts, |x, y| x << y) } else { Self::ALL }
    }

    /// Shifts of bits to the right of integers that are not negative, by less than 32.
    pub fn shift_right_logical(self, amounts: Self) -> Self {
        if self.has_no_sign() { self.shift_right_arithmetic(amounts) } else { Self::ALL }
    }

    /// Shifts to the right that keep the sign, by less than 32.
    pub fn shift_right_arithmetic(self, amounts: Self) -> Self {
        if amounts.within(SHIFTS) { self.corners(amounts, |x, y| x >> y) } else { Self::ALL }
    }

    /// Whether bits and numbers are the same in every type that holds these.
    fn has_no_sign(self) -> bool {
        self.low >= 0 && self.high < 1 << 64
    }
}

/// By how much integers of every type but the narrowest can be shifted.
const SHIFTS: IntRange = IntRange { low: 0, high: 31 };

impl Add for IntRange {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.corners(other, i128::saturating_add)
    }
}

impl Sub for IntRange {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.corners(other, i128::saturating_sub)
    }
}

impl Mul for IntRange {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        self.corners(other, i128::saturating_mul)
    }
}

impl Neg for IntRange {
    type Output = Self;

    fn neg(self) -> Self {
        Self::ZERO - self
    }
}

impl fmt::Display for IntRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..={}", self.low, self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every range of a few integers, and every value of two of them: results hold what the op gives.
    #[test]
    fn results_hold_every_value() {
        type Case = (&'static str, fn(IntRange, IntRange) -> IntRange, fn(i128, i128) -> Option<i128>);
        let cases: [Case; 12] = [
            ("+", |x, y| x + y, |x, y| Some(x + y)),
            ("-", |x, y| x - y, |x, y| Some(x - y)),
            ("*", |x, y| x * y, |x, y| Some(x * y)),
            ("neg", |x, _| -x, |x, _| Some(-x)),
            ("abs", |x, _| x.abs(), |x, _| Some(x.abs())),
            ("maximum", IntRange::maximum, |x, y| Some(x.max(y))),
            ("minimum", IntRange::minimum, |x, y| Some(x.min(y))),
            ("divide", IntRange::divide, i128::checked_div),
            ("remainder", IntRange::remainder, i128::checked_rem),
            ("<<", IntRange::shift_left, |x, y| (y >= 0).then(|| x << y)),
            (">>", IntRange::shift_right_arithmetic, |x, y| (y >= 0).then(|| x >> y)),
            (">>>", IntRange::shift_right_logical, |x, y| (x >= 0 && y >= 0).then(|| x >> y)),
        ];
        let ranges: Vec<IntRange> =
            (-4..5).flat_map(|low| (low..5).map(move |high| IntRange::new(low, high))).collect();
        for (name, range, value) in cases {
            for (&x, &y) in ranges.iter().flat_map(|x| ranges.iter().map(move |y| (x, y))) {
                let found = range(x, y);
                for (a, b) in (x.low..=x.high).flat_map(|a| (y.low..=y.high).map(move |b| (a, b))) {
                    let given = value(a, b).is_none_or(|value| IntRange::new(value, value).within(found));
                    assert!(given, "{name} of {a} in {x} and {b} in {y} is not in {found}");
                }
            }
        }
    }

    #[test]
    fn what_does_not_fit_stays_at_the_ends() {
        assert_eq!(IntRange::ALL + IntRange::ALL, IntRange::ALL);
        assert_eq!(-IntRange::ALL, IntRange::new(-i128::MAX, i128::MAX));
        assert_eq!(IntRange::new(1, 3).sum_of(4), IntRange::new(0, 12));
    }
}
