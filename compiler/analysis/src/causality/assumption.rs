//! Assumptions of proofs of causality.

use halite_tensor::DType;
use std::fmt;

/// An assumption of a proof of causality.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Assumption {
    /// Masked scores get a finite fill; their exponentials are exactly 0 while no score is larger than `bound` in
    /// magnitude.
    Underflow {
        /// The value of masked scores, or the value that is added to them.
        fill: f64,
        /// The element type of the exponential.
        dtype: DType,
        /// The largest score for which the proof holds.
        bound: f64,
    },
    /// A fill that scores are added to, or that lies beyond it, loses against a constant while no score is larger than
    /// `bound` in magnitude: `maximum(scores - 1e9, 0)` is 0.
    Outweighed {
        /// The value of masked scores, or the value that is added to them.
        fill: f64,
        /// The constant that it loses against.
        limit: f64,
        /// The largest score for which the proof holds.
        bound: f64,
    },
    /// Elements that a mask makes 0 by a product are finite: exponentials of large scores are not, and infinity times 0 is NaN.
    Finite,
    /// A mask that tokens decide leaves each row at least one element. A row without any is NaN, or with a finite fill the
    /// mean over everything.
    RowsSeen,
    /// A mask leaves some row nothing but minus infinity. Such a row is NaN, whatever the tokens.
    EmptyRows,
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Assumption::Underflow { fill, dtype, bound } => {
                let (bound, fill) = (Rounded(*bound), Rounded(*fill));
                write!(f, "scores are at most {bound} in magnitude, so that `exp` of those filled with {fill} is 0")?;
                write!(f, " in `{dtype}`")
            }
            Assumption::Outweighed { fill, limit, bound } => {
                let (bound, fill, limit) = (Rounded(*bound), Rounded(*fill), Rounded(*limit));
                write!(
                    f,
                    "scores are at most {bound} in magnitude, so that those filled with {fill} do not reach {limit}"
                )
            }
            Assumption::Finite => f.write_str("what is multiplied by the zeros of a mask is finite"),
            Assumption::RowsSeen => f.write_str("each position sees at least itself"),
            Assumption::EmptyRows => f.write_str("positions that a mask leaves nothing, which are NaN, do not count"),
        }
    }
}

/// A number in four digits, towards 0.
struct Rounded(f64);

impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.abs() < 1e5 || self.0.is_infinite() {
            return write!(f, "{}", self.0.trunc());
        }
        let unit = 10f64.powf(self.0.abs().log10().floor() - 3.0);
        write!(f, "{:.3e}", (self.0 / unit).trunc() * unit)
    }
}

/// The largest `x` for which `exp(x)` rounds to 0 in a float type: half of its least positive number, 2^-150 in `f32`,
/// 2^-134 in `bf16`, 2^-25 in `f16` and 2^-1075 in `f64`. Hardware that flushes subnormal numbers to 0 gets there
/// earlier: at -87.3, -87.3, -9.7 and -708.4.
pub(super) fn underflow(dtype: DType) -> f64 {
    let exponent = match dtype {
        DType::F64 => -1075.0,
        DType::F16 => -25.0,
        DType::Bf16 => -134.0,
        _ => -150.0,
    };
    exponent * std::f64::consts::LN_2
}

/// Assumptions in the order in which they were first needed; of equal ones the strictest.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Assumptions(Vec<Assumption>);

impl Assumptions {
    pub(super) fn add(&mut self, new: Assumption) {
        let alike = |own: &&mut Assumption| match (own, new) {
            (Assumption::Underflow { fill, dtype, .. }, Assumption::Underflow { fill: other, dtype: same, .. }) => {
                *fill == other && *dtype == same
            }
            (Assumption::Outweighed { fill, limit, .. }, Assumption::Outweighed { fill: other, limit: same, .. }) => {
                *fill == other && *limit == same
            }
            (own, _) => **own == new,
        };
        match (self.0.iter_mut().find(alike), new) {
            (Some(Assumption::Underflow { bound, .. }), Assumption::Underflow { bound: other, .. })
            | (Some(Assumption::Outweighed { bound, .. }), Assumption::Outweighed { bound: other, .. }) => {
                *bound = bound.min(other);
            }
            (Some(_), _) => {}
            (None, _) => self.0.push(new),
        }
    }

    pub(super) fn add_all(&mut self, other: &Assumptions) {
        other.0.iter().for_each(|assumption| self.add(*assumption));
    }

    pub(super) fn contains(&self, assumption: Assumption) -> bool {
        self.0.contains(&assumption)
    }

    pub(super) fn into_vec(self) -> Vec<Assumption> {
        self.0
    }
}
