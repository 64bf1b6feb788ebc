//! Ranges of integers.

use halite_tensor::DType;
use std::fmt;

/// Every integer from `low` to `high`. The arithmetic is that of whole numbers: results hold every value that operands
/// from the ranges can give.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Range {
    pub(super) low: i128,
    pub(super) high: i128,
}

impl Range {
    pub(super) const ZERO: Self = Self { low: 0, high: 0 };
    pub(super) const ALL: Self = Self { low: i128::MIN, high: i128::MAX };

    pub(super) fn new(low: i128, high: i128) -> Self {
        Self { low, high }
    }

    /// Every value of a type; `None` for floats.
    pub(super) fn of(dtype: DType) -> Option<Self> {
        dtype.int_range().map(|(low, high)| Self { low, high })
    }

    pub(super) fn within(self, other: Self) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    /// The values of either, and those between.
    pub(super) fn union(self, other: Self) -> Self {
        Self::new(self.low.min(other.low), self.high.max(other.high))
    }

    /// `f` at the ends, for functions that are monotonic in each argument.
    pub(super) fn corners(self, other: Self, f: impl Fn(i128, i128) -> i128) -> Self {
        let ends = [(self.low, other.low), (self.low, other.high), (self.high, other.low), (self.high, other.high)];
        let [a, b, c, d] = ends.map(|(x, y)| f(x, y));
        Self::new(a.min(b).min(c).min(d), a.max(b).max(c).max(d))
    }

    /// The sums of up to `count` values.
    pub(super) fn sum_of(self, count: i128) -> Self {
        self.corners(Self::new(0, count), i128::saturating_mul)
    }

    /// What `and` leaves of two's complement integers: no more than an operand that is not negative.
    pub(super) fn and(self, other: Self) -> Self {
        match (self.low >= 0, other.low >= 0) {
            (true, true) => Self::new(0, self.high.min(other.high)),
            (true, false) => Self::new(0, self.high),
            (false, true) => Self::new(0, other.high),
            (false, false) => Self::ALL,
        }
    }

    /// What `or` and `xor` make of integers: no bit above the highest one, if none is negative.
    pub(super) fn or(self, other: Self) -> Self {
        let either = self.union(other);
        if either.low < 0 {
            return Self::ALL;
        }
        let width = i128::BITS - either.high.leading_zeros();
        Self::new(0, (1i128 << width) - 1)
    }

    /// Shifts by `f` of integers that are not negative, by less than 32.
    pub(super) fn shift(self, amounts: Self, f: impl Fn(i128, i128) -> i128) -> Self {
        let known = self.low >= 0 && self.high < 1 << 64 && amounts.within(Self::new(0, 31));
        if known { self.corners(amounts, f) } else { Self::ALL }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..={}", self.low, self.high)
    }
}
