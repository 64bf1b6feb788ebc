//! The request to open a file of a format.

use crate::documents::Documents;
use crate::files::Origin;
use crate::part::Part;
use crate::shard::tokens::{Ends, Extent, TokenShard};
use crate::shard::{Coding, Shard};
use halite_disk::Readable;
use halite_support::Result;
use std::ops::Range;

/// A file that is to be opened, with the settings of its source.
pub(crate) struct Request<'a> {
    pub(crate) origin: &'a Origin,
    pub(crate) coding: Coding,
    /// The key of JSON lines, or the column of tables, that holds the text.
    pub(crate) column: &'a str,
    /// The part of a text file that is one document.
    pub(crate) documents: Documents,
    /// The share of the file that is used; all where it is compressed.
    pub(crate) part: Part,
    /// The token after each document, if there is one.
    pub(crate) eos: Option<i32>,
    /// The number of ids that the tokenizer knows.
    pub(crate) vocabulary: u64,
}

impl Request<'_> {
    /// The bytes of a text that are used.
    pub(crate) fn range(&self, documents: Documents) -> Result<Range<u64>> {
        if self.coding.is_decoded() { Ok(0..u64::MAX) } else { self.part.of_text(self.origin, documents) }
    }

    /// The used part of a file with these ids.
    pub(crate) fn shard(&self, file: Readable, extent: Extent, ends: Ends) -> Box<dyn Shard> {
        let (path, range) = (self.origin.path.clone(), self.part.of(extent.count));
        Box::new(TokenShard { path, file, extent, range, ends, vocabulary: self.vocabulary })
    }
}
