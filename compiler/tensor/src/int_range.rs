//! Ranges of integers.

use crate::DType;
use std::fmt;

/// Every integer from `low` to `high`. The arithmetic is that of whole numbers: results hold every value that operands
/// from the ranges can give.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IntRange {
    /// The least.
    pub low: i128,
    /// The greatest.
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

    /// `f` at the ends, for functions that are monotonic in each argument.
    pub fn corners(self, other: Self, f: impl Fn(i128, i128) -> i128) -> Self {
        let ends = [(self.low, other.low), (self.low, other.high), (self.high, other.low), (self.high, other.high)];
        let [a, b, c, d] = ends.map(|(x, y)| f(x, y));
        Self::new(a.min(b).min(c).min(d), a.max(b).max(c).max(d))
    }

    /// The sums of up to `count` values.
    pub fn sum_of(self, count: i128) -> Self {
        self.corners(Self::new(0, count), i128::saturating_mul)
    }

    /// What `and` leaves of two's complement integers: no more than an operand that is not negative.
    pub fn and(self, other: Self) -> Self {
        match (self.low >= 0, other.low >= 0) {
            (true, true) => Self::new(0, self.high.min(other.high)),
            (true, false) => Self::new(0, self.high),
            (false, true) => Self::new(0, other.high),
            (false, false) => Self::ALL,
        }
    }

    /// What `or` and `xor` make of integers: no bit above the highest one, if none is negative.
    pub fn or(self, other: Self) -> Self {
        let either = self.union(other);
        if either.low < 0 {
            return Self::ALL;
        }
        let width = i128::BITS - either.high.leading_zeros();
        Self::new(0, (1i128 << width) - 1)
    }

    /// Shifts by `f` of integers that are not negative, by less than 32.
    pub fn shift(self, amounts: Self, f: impl Fn(i128, i128) -> i128) -> Self {
        let known = self.low >= 0 && self.high < 1 << 64 && amounts.within(Self::new(0, 31));
        if known { self.corners(amounts, f) } else { Self::ALL }
    }
}

impl fmt::Display for IntRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..={}", self.low, self.high)
    }
}
