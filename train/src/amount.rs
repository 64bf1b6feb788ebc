//! Amounts of data, in tokens or in examples.

use serde::{Deserialize, Serialize};

/// An amount of data. In JSON it is a field with the name of its unit: `"tokens": 512`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Amount {
    /// Tokens that are predicted, padding included, of a model that is fed sequences of tokens.
    Tokens(u64),
    /// Examples, of a model that is fed anything else, such as pictures.
    Examples(u64),
}

impl Amount {
    /// The number of tokens or examples.
    pub fn number(self) -> u64 {
        match self {
            Self::Tokens(number) | Self::Examples(number) => number,
        }
    }

    /// The name of the unit: `tokens` or `examples`.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Tokens(_) => "tokens",
            Self::Examples(_) => "examples",
        }
    }

    /// Whether the unit is tokens, so that a mean loss has a perplexity.
    pub fn is_of_tokens(self) -> bool {
        matches!(self, Self::Tokens(_))
    }

    /// Another number of the same unit.
    #[must_use]
    pub fn of_number(self, number: u64) -> Self {
        match self {
            Self::Tokens(_) => Self::Tokens(number),
            Self::Examples(_) => Self::Examples(number),
        }
    }
}

/// The number of elements that the loss of an evaluation is the mean over: tokens, or whatever else the model counts. In JSON it is a
/// field `held_out_tokens` or `held_out_count`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum HeldOutCount {
    /// Tokens, for a model that is fed sequences of tokens.
    #[serde(rename = "held_out_tokens")]
    Tokens(u64),
    /// Elements that the loss counts, for any other model.
    #[serde(rename = "held_out_count")]
    Other(u64),
}

impl HeldOutCount {
    /// A count of `number` elements: tokens where `amount` is of tokens.
    pub fn of(amount: Amount, number: u64) -> Self {
        if amount.is_of_tokens() { Self::Tokens(number) } else { Self::Other(number) }
    }

    /// The number of elements.
    pub fn number(self) -> u64 {
        match self {
            Self::Tokens(number) | Self::Other(number) => number,
        }
    }

    /// The name of the unit: `tokens` or `count`.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Tokens(_) => "tokens",
            Self::Other(_) => "count",
        }
    }

    /// Whether the elements are tokens.
    pub fn is_of_tokens(self) -> bool {
        matches!(self, Self::Tokens(_))
    }
}
