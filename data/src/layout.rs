//! How documents of a source become rows.

use crate::config::Packing;

/// How documents of a source become rows.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) pack: Packing,
    /// Tokens of a row; at least 2.
    pub(crate) width: usize,
    /// About how many tokens are packed together.
    pub(crate) buffer: usize,
    /// What the order of rows is drawn from; `None` for the order of their documents.
    pub(crate) seed: Option<u64>,
}
