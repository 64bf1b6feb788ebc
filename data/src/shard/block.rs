//! Blocks, which are read at once.

use super::place::Place;

/// The most bytes of a text that are tokenized as one, or tokens that are read at once. A shorter document is one block.
pub(crate) const BLOCK: usize = 1 << 20;

/// The most bytes of a line, or of the text of a row: it is held as a whole.
pub(crate) const LONGEST: usize = 1 << 26;

/// A document or, where that is long, a part of it.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) place: Place,
    /// Whether the document ends with it.
    pub(crate) last: bool,
    pub(crate) content: Content,
}

/// The content of a block.
#[derive(Debug)]
pub(crate) enum Content {
    Text(String),
    Tokens(Vec<i32>),
}

impl Content {
    /// Bytes of the text, or tokens.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Tokens(tokens) => tokens.len(),
        }
    }
}
