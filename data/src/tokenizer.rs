//! Text as token ids.

#[cfg(feature = "tokenizers")]
mod hugging_face;

use halite_support::Result;
use std::path::Path;

/// What turns text into token ids.
pub(crate) trait Tokenizer: Send + Sync {
    /// The ids of a text, without tokens that mark its begin or end.
    fn encode(&self, text: &str) -> Result<Vec<i32>>;

    /// How many ids there are.
    fn vocabulary(&self) -> u64;

    /// The id of a token that is known by its text.
    fn id(&self, token: &str) -> Option<i32>;

    /// What tells it from others.
    fn identity(&self) -> String;
}

/// The tokenizer that a configuration names: `bytes`, or the path of a `tokenizer.json` as seen from `base`.
pub(crate) fn open(name: &str, base: &Path) -> Result<Box<dyn Tokenizer>> {
    match name {
        "bytes" => Ok(Box::new(Bytes)),
        path => open_file(&base.join(path)),
    }
}

#[cfg(feature = "tokenizers")]
fn open_file(path: &Path) -> Result<Box<dyn Tokenizer>> {
    Ok(Box::new(hugging_face::HuggingFace::read(path)?))
}

#[cfg(not(feature = "tokenizers"))]
fn open_file(path: &Path) -> Result<Box<dyn Tokenizer>> {
    let what = format!("the tokenizer `{}` is a file", path.display());
    Err(crate::features::lacking(&what, "tokenizers", "take `bytes`"))
}

/// Each byte is a token.
struct Bytes;

impl Tokenizer for Bytes {
    fn encode(&self, text: &str) -> Result<Vec<i32>> {
        Ok(text.bytes().map(i32::from).collect())
    }

    fn vocabulary(&self) -> u64 {
        1 << 8
    }

    fn id(&self, _: &str) -> Option<i32> {
        None
    }

    fn identity(&self) -> String {
        "bytes".to_owned()
    }
}
