//! Text as token ids.

use halite_support::{Diagnostic, Result, codes};
use std::path::Path;

/// What turns text into token ids.
pub(crate) enum Tokenizer {
    /// Each byte is a token.
    Bytes,
}

impl Tokenizer {
    /// The tokenizer that a configuration names: `bytes`, or the path of a `tokenizer.json` as seen from `base`.
    pub(crate) fn open(name: &str, _base: &Path) -> Result<Self> {
        match name {
            "bytes" => Ok(Self::Bytes),
            _ => {
                let message = format!("the tokenizer `{name}` is a file, which this build does not read");
                Err(Diagnostic::error(codes::NOT_SUPPORTED, message)
                    .help("take `bytes`, or build with the feature `tokenizers`"))
            }
        }
    }

    /// The ids of a text, without tokens that mark its begin or end.
    pub(crate) fn encode(&self, text: &str) -> Result<Vec<i32>> {
        match self {
            Self::Bytes => Ok(text.bytes().map(i32::from).collect()),
        }
    }

    /// How many ids there are.
    pub(crate) fn vocabulary(&self) -> u64 {
        match self {
            Self::Bytes => 1 << 8,
        }
    }

    /// The id of a token that is known by its text.
    pub(crate) fn id(&self, _token: &str) -> Option<i32> {
        match self {
            Self::Bytes => None,
        }
    }

    /// What tells it from others.
    pub(crate) fn identity(&self) -> String {
        match self {
            Self::Bytes => "bytes".to_owned(),
        }
    }
}
