//! Text as token ids, and back.

#[cfg(feature = "tokenizers")]
mod hugging_face;
#[cfg(feature = "tokenizers")]
mod sizes;
#[cfg(feature = "tokenizers")]
mod stated;

use halite_support::{Diagnostic, Result, codes};
use std::path::Path;

/// A tokenizer, which turns text into token ids, and these into text.
pub trait Tokenizer: Send + Sync {
    /// The ids of a text, without tokens that mark its begin or end.
    ///
    /// # Errors
    /// When it has no ids for the text.
    fn encode(&self, text: &str) -> Result<Vec<i32>>;

    /// The text that ids stand for. Where they end within a character, that is U+FFFD.
    ///
    /// # Errors
    /// When there are ids that are none of it.
    fn decode(&self, ids: &[i32]) -> Result<String>;

    /// The number of ids.
    fn vocabulary(&self) -> u64;

    /// The id of a token that is known by its text.
    fn id(&self, token: &str) -> Option<i32>;

    /// Whether an id is one of it: there may be gaps between the first and the last.
    fn has(&self, id: i32) -> bool;

    /// Whether an id is that of a special token, which no text is made of.
    fn is_special(&self, id: i32) -> bool;

    /// Whether it may have tokens that mark where texts begin and end.
    fn is_marked(&self) -> bool;

    /// The token that ends a text, as far as a configuration states one beside the tokenizer.
    ///
    /// # Errors
    /// When there is a configuration that cannot be read, or it states something else than a token.
    fn stated_end(&self) -> Result<Option<String>>;

    /// A text that tells it from other tokenizers.
    fn identity(&self) -> String;
}

/// The name of the tokenizer whose tokens are bytes.
pub const BYTES: &str = "bytes";

/// The tokenizer of a name: `bytes`, or the path of a `tokenizer.json` as seen from `base`.
///
/// # Errors
/// When the file cannot be read, is none, or this build has no such tokenizers.
pub fn open(name: &str, base: &Path) -> Result<Box<dyn Tokenizer>> {
    match name {
        BYTES => Ok(Box::new(Bytes)),
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

/// Each byte of a text is a token.
struct Bytes;

impl Tokenizer for Bytes {
    fn encode(&self, text: &str) -> Result<Vec<i32>> {
        Ok(text.bytes().map(i32::from).collect())
    }

    fn decode(&self, ids: &[i32]) -> Result<String> {
        let byte = |&id: &i32| u8::try_from(id).map_err(|_| unknown(id));
        let bytes = ids.iter().map(byte).collect::<Result<Vec<u8>>>()?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn vocabulary(&self) -> u64 {
        1 << 8
    }

    fn id(&self, _: &str) -> Option<i32> {
        None
    }

    fn has(&self, id: i32) -> bool {
        u8::try_from(id).is_ok()
    }

    fn is_special(&self, _: i32) -> bool {
        false
    }

    fn is_marked(&self) -> bool {
        false
    }

    fn stated_end(&self) -> Result<Option<String>> {
        Ok(None)
    }

    fn identity(&self) -> String {
        BYTES.to_owned()
    }
}

/// The error of an id that a tokenizer does not have.
fn unknown(id: i32) -> Diagnostic {
    Diagnostic::error(codes::VOCABULARY, format!("the tokenizer has no token {id}"))
        .help("take the tokenizer that the model was trained with")
}
