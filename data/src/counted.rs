//! What was read of a source.

use crate::dataset::Skipped;
use crate::reader::Reader;

/// What was read of a source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counted {
    /// The name of the source.
    pub source: String,
    /// Its files.
    pub files: usize,
    /// Documents that were read.
    pub documents: u64,
    /// Their tokens, marks included.
    pub tokens: u64,
    /// What was left out.
    pub skipped: Vec<Skipped>,
}

impl Counted {
    /// Nothing yet.
    pub(crate) fn new(source: &str, reader: &Reader) -> Self {
        Self { source: source.to_owned(), files: reader.files(), documents: 0, tokens: 0, skipped: Vec::new() }
    }
}
