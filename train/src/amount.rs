//! How much of its data a run has seen.

use serde::{Deserialize, Serialize};

/// A number of what the data of a model come in. In JSON it is a field of that name: `"tokens": 512`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Amount {
    /// Tokens that are predicted, padding included, of a model that is fed sequences of tokens.
    Tokens(u64),
    /// Examples, of a model that is fed anything else, such as pictures.
    Examples(u64),
}

impl Amount {
    /// How many.
    pub fn number(self) -> u64 {
        match self {
            Self::Tokens(number) | Self::Examples(number) => number,
        }
    }

    /// What they are called: `tokens` or `examples`.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Tokens(_) => "tokens",
            Self::Examples(_) => "examples",
        }
    }

    /// Whether they are tokens, so that a mean loss has a perplexity.
    pub fn is_of_tokens(self) -> bool {
        matches!(self, Self::Tokens(_))
    }

    /// So many of the same.
    #[must_use]
    pub fn of_number(self, number: u64) -> Self {
        match self {
            Self::Tokens(_) => Self::Tokens(number),
            Self::Examples(_) => Self::Examples(number),
        }
    }
}

/// What the loss of an evaluation is the mean over: tokens, or whatever else the model counts. In JSON it is a field `held_out_tokens` or
/// `held_out_count`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum HeldOutCount {
    /// Of a model that is fed sequences of tokens.
    #[serde(rename = "held_out_tokens")]
    Tokens(u64),
    /// Of any other, what its loss counts.
    #[serde(rename = "held_out_count")]
    Other(u64),
}

impl HeldOutCount {
    /// Of a number, where the data come in such amounts.
    pub fn of(amount: Amount, number: u64) -> Self {
        if amount.is_of_tokens() { Self::Tokens(number) } else { Self::Other(number) }
    }

    /// How many.
    pub fn number(self) -> u64 {
        match self {
            Self::Tokens(number) | Self::Other(number) => number,
        }
    }

    /// What they are called: `tokens` or `count`.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Tokens(_) => "tokens",
            Self::Other(_) => "count",
        }
    }

    /// Whether they are tokens.
    pub fn is_of_tokens(self) -> bool {
        matches!(self, Self::Tokens(_))
    }
}
