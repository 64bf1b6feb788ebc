//! Text as token ids, and back.

use halite_support::Result;

/// What text is made of for a model.
pub trait Tokenizer {
    /// The ids of a text.
    ///
    /// # Errors
    /// When it has no ids for the text.
    fn encode(&self, text: &str) -> Result<Vec<i32>>;

    /// The bytes of the text that ids stand for; they may end within a character. What is no id of it stands for nothing.
    fn decode(&self, ids: &[i32]) -> Vec<u8>;

    /// How many ids there are.
    fn vocabulary(&self) -> usize;
}

/// Each byte of a text is a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bytes;

impl Tokenizer for Bytes {
    fn encode(&self, text: &str) -> Result<Vec<i32>> {
        Ok(text.bytes().map(i32::from).collect())
    }

    fn decode(&self, ids: &[i32]) -> Vec<u8> {
        ids.iter().filter_map(|&id| u8::try_from(id).ok()).collect()
    }

    fn vocabulary(&self) -> usize {
        256
    }
}
