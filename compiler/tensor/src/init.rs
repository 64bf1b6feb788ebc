//! Initialization of weights and state.

use serde::{Deserialize, Serialize};

/// The bound of a truncated normal distribution, in standard deviations of the distribution before it is cut off.
pub const TRUNCATED_AT: f64 = 2.0;

/// The standard deviation of a standard normal distribution that is cut off at [`TRUNCATED_AT`] on both sides:
/// `sqrt(1 - 2 * 2 * phi(2) / (2 * Phi(2) - 1))`.
const TRUNCATED_STD: f64 = 0.879_625_661_034_239_8;

/// The initialization of a weight, or of state beside it. Samples are independent, keyed by seed, name of the weight and element.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Init {
    /// All zeros.
    Zeros,
    /// All ones.
    Ones,
    /// This value everywhere. In JSON `{"constant": <value>}`.
    Constant(f64),
    /// Normal samples of mean 0. In JSON `{"normal": <std>}`.
    #[serde(with = "f64")]
    Normal {
        /// Standard deviation.
        std: f64,
    },
    /// Normal samples of mean 0, of which those beyond two standard deviations are drawn again. In JSON
    /// `{"truncated_normal": <std>}`.
    #[serde(with = "f64")]
    TruncatedNormal {
        /// Standard deviation of the distribution before it is cut off, as in JAX and PyTorch.
        std: f64,
    },
    /// Samples that are equally likely from one number to another. In JSON `{"uniform": {"low": <low>, "high": <high>}}`.
    Uniform {
        /// The least.
        low: f64,
        /// The upper bound, which is excluded.
        high: f64,
    },
    /// Numbers in equal steps along the last dimension, the same in all others. In JSON `{"range": {"start": <start>, "step": <step>}}`.
    Range {
        /// The first.
        start: f64,
        /// From one to the next.
        step: f64,
    },
    /// A matrix of the first size by all others, whose rows, or columns where there are fewer of these, are orthogonal and of the length
    /// `gain`: normal samples, orthogonalized (Saxe et al. 2014). In JSON `{"orthogonal": <gain>}`.
    #[serde(with = "f64")]
    Orthogonal {
        /// The length of each row or column.
        gain: f64,
    },
    /// The initial value of the weight that the state belongs to, at the element type of the state. A weight that is narrower than such
    /// a state starts as that state rounded to nearest. No weight itself starts so.
    Weight,
}

impl Init {
    /// The forms that texts have, for messages; [`Weight`](Self::Weight) is one of state alone.
    pub const FORMS: &'static str = "`zeros`, `ones`, `constant(value)`, `normal(std)`, `truncated_normal(std)`, `uniform(low, high)`, \
         `range(start, step)` or `orthogonal(gain)`";

    /// Its form in texts: a word, and the numbers that follow it in brackets.
    pub fn written(self) -> (&'static str, Vec<f64>) {
        match self {
            Self::Zeros => ("zeros", vec![]),
            Self::Ones => ("ones", vec![]),
            Self::Constant(value) => ("constant", vec![value]),
            Self::Normal { std } => ("normal", vec![std]),
            Self::TruncatedNormal { std } => ("truncated_normal", vec![std]),
            Self::Uniform { low, high } => ("uniform", vec![low, high]),
            Self::Range { start, step } => ("range", vec![start, step]),
            Self::Orthogonal { gain } => ("orthogonal", vec![gain]),
            Self::Weight => ("weight", vec![]),
        }
    }

    /// Reads the form in texts; `None` where it is no such form.
    pub fn read(word: &str, numbers: &[f64]) -> Option<Self> {
        Some(match (word, numbers) {
            ("zeros", []) => Self::Zeros,
            ("ones", []) => Self::Ones,
            ("constant", &[value]) => Self::Constant(value),
            ("normal", &[std]) => Self::Normal { std },
            ("truncated_normal", &[std]) => Self::TruncatedNormal { std },
            ("uniform", &[low, high]) => Self::Uniform { low, high },
            ("range", &[start, step]) => Self::Range { start, step },
            ("orthogonal", &[gain]) => Self::Orthogonal { gain },
            ("weight", []) => Self::Weight,
            _ => return None,
        })
    }

    /// Whether it starts from samples.
    pub fn is_random(self) -> bool {
        matches!(
            self,
            Self::Normal { .. } | Self::TruncatedNormal { .. } | Self::Uniform { .. } | Self::Orthogonal { .. }
        )
    }

    /// The value of all elements, where they have the same.
    pub fn constant(self) -> Option<f64> {
        match self {
            Self::Zeros => Some(0.0),
            Self::Ones => Some(1.0),
            Self::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The mean and the standard deviation of the elements of a tensor of this shape; `None` where another tensor says.
    pub fn moments(self, shape: &[usize]) -> Option<(f64, f64)> {
        if let Some(value) = self.constant() {
            return Some((value, 0.0));
        }
        Some(match self {
            Self::Range { start, step } => {
                let count = shape.last().map_or(1.0, |&count| count as f64);
                (start + step * (count - 1.0) / 2.0, step.abs() * ((count * count - 1.0) / 12.0).sqrt())
            }
            Self::Orthogonal { gain } => {
                let [rows, columns] = matrix(shape);
                (0.0, gain / (rows.max(columns).max(1) as f64).sqrt())
            }
            Self::Normal { std } => (0.0, std),
            Self::TruncatedNormal { std } => (0.0, std * TRUNCATED_STD),
            Self::Uniform { low, high } => ((low + high) / 2.0, (high - low) / 12f64.sqrt()),
            _ => return None,
        })
    }

    /// The fault of its numbers: the text that follows "expected", and what was found; `None` where there is no fault.
    pub fn fault(self) -> Option<(&'static str, String)> {
        match self {
            Self::Constant(value) if !value.is_finite() => Some(("a number to start from", format!("{value:?}"))),
            Self::Normal { std } | Self::TruncatedNormal { std } if !(std.is_finite() && std >= 0.0) => {
                Some(("a standard deviation", format!("{std:?}")))
            }
            Self::Range { start, step } if !(start.is_finite() && step.is_finite()) => {
                Some(("two finite numbers, the first element and the step", format!("{start:?} and {step:?}")))
            }
            Self::Orthogonal { gain } if !gain.is_finite() => Some(("a finite gain", format!("{gain:?}"))),
            Self::Uniform { low, high } if !(low <= high && (high - low).is_finite()) => {
                Some(("two finite numbers, the lower first", format!("{low:?} and {high:?}")))
            }
            _ => None,
        }
    }
}

/// Rows and columns of a tensor as a matrix: its first size, and all others.
pub fn matrix(shape: &[usize]) -> [usize; 2] {
    let (first, rest) = shape.split_first().map_or((1, &[][..]), |(first, rest)| (*first, rest));
    [first, rest.iter().product()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_str, to_string};

    const ALL: [(Init, &str); 9] = [
        (Init::Zeros, r#""zeros""#),
        (Init::Ones, r#""ones""#),
        (Init::Constant(3.5), r#"{"constant":3.5}"#),
        (Init::Normal { std: 0.02 }, r#"{"normal":0.02}"#),
        (Init::TruncatedNormal { std: 0.02 }, r#"{"truncated_normal":0.02}"#),
        (Init::Uniform { low: -0.5, high: 0.5 }, r#"{"uniform":{"low":-0.5,"high":0.5}}"#),
        (Init::Range { start: 1.0, step: -0.5 }, r#"{"range":{"start":1.0,"step":-0.5}}"#),
        (Init::Orthogonal { gain: 1.5 }, r#"{"orthogonal":1.5}"#),
        (Init::Weight, r#""weight""#),
    ];

    #[test]
    fn the_words_of_manifests_stay() {
        for (init, text) in ALL {
            assert_eq!((to_string(&init).unwrap().as_str(), from_str::<Init>(text).unwrap()), (text, init));
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for (init, _) in ALL {
            let (word, numbers) = init.written();
            assert_eq!((Init::read(word, &numbers), init.fault()), (Some(init), None));
        }
        assert_eq!(Init::read("uniform", &[1.0]), None);
    }

    #[test]
    fn what_is_cut_off_is_narrower() {
        // Phi(2) and phi(2) of the standard normal distribution.
        let (below, density) = (0.977_249_868_051_820_8_f64, 0.053_990_966_513_188_06_f64);
        let variance = 1.0 - 2.0 * TRUNCATED_AT * density / (2.0 * below - 1.0);
        assert!((variance.sqrt() - TRUNCATED_STD).abs() < 1e-12, "{}", variance.sqrt());
    }
}
