//! Sequences of tokens.

/// Sequences for one batch: `rows` of `width` tokens each. A model predicts each token of a row but the first from those before it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rows {
    /// Sequences.
    pub rows: usize,
    /// Tokens of each, the last label included.
    pub width: usize,
    /// Token ids, `rows * width`, row after row.
    pub tokens: Vec<i32>,
    /// For each token the number of its document within the row, from 1; 0 where there is no token.
    pub segments: Vec<i32>,
    /// For each token its position within its document's piece, from 0.
    pub positions: Vec<i32>,
}
