//! The counts of a source that was read.

use crate::dataset::Skipped;
use crate::reader::Reader;

/// The counts of a source that was read, or of its beginning.
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
    /// Documents that were left out, by reason.
    pub skipped: Vec<Skipped>,
}

impl Counted {
    /// The counts before anything is read.
    pub(crate) fn new(source: &str, reader: &Reader) -> Self {
        Self { source: source.to_owned(), files: reader.files(), documents: 0, tokens: 0, skipped: Vec::new() }
    }
}
