//! The layout of a source's documents in rows.

use crate::config::Packing;

/// The layout of a source's documents in rows.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) pack: Packing,
    /// Tokens of a row; at least 2.
    pub(crate) width: usize,
    /// The approximate number of tokens that are packed together.
    pub(crate) buffer: usize,
    /// The seed that the order of rows is drawn from; `None` for the order of their documents.
    pub(crate) seed: Option<u64>,
}
