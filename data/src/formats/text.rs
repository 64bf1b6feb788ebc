//! Text files.

mod cuts;

use super::{Format, Holds, Request};
use crate::documents::Documents;
use crate::files::Origin;
use crate::shard::{BLOCK, BYTE_ORDER_MARK, Block, Blocks, Coding, Content, Fault, Found, Input, Place, Shard, locate};
use cuts::{blank_before, first_block};
use halite_support::Result;
use std::ops::Range;
use std::path::Path;

/// Text files.
pub const FORMAT: Format = Format {
    word: "text",
    about: "Plain text in UTF-8.",
    extensions: &["txt"],
    holds: Holds::Text { open, may_be_compressed: true },
};

fn open(request: &Request<'_>) -> Result<Box<dyn Shard>> {
    let documents = request.documents;
    let (origin, coding, range) = (request.origin.clone(), request.coding, request.range(documents)?);
    Ok(Box::new(TextShard { origin, coding, documents, range, block: BLOCK }))
}

/// A text file, or the part of one that is used.
pub(crate) struct TextShard {
    pub(crate) origin: Origin,
    pub(crate) coding: Coding,
    pub(crate) documents: Documents,
    /// The bytes that are used.
    pub(crate) range: Range<u64>,
    /// The most bytes of a block.
    pub(crate) block: usize,
}

impl Shard for TextShard {
    fn path(&self) -> &Path {
        &self.origin.path
    }

    fn locate(&self, at: u64) -> String {
        locate(&self.origin, self.coding, at)
    }

    fn open(&self) -> Result<Box<dyn Blocks>> {
        let input = Input::open(&self.origin, self.coding, self.range.clone())?;
        Ok(Box::new(TextBlocks { input, documents: self.documents, block: self.block, within: false }))
    }
}

struct TextBlocks {
    input: Input,
    documents: Documents,
    block: usize,
    within: bool,
}

impl TextBlocks {
    /// Goes to where the next document begins.
    fn skip_blank(&mut self) -> Result<Option<Fault>> {
        loop {
            if let Some(fault) = self.input.fill(self.block + 1)? {
                return Ok(Some(fault));
            }
            let text = self.input.unused();
            let mark =
                if self.input.at() == 0 && text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
            let blank = mark + blank_before(&text[mark..], self.documents);
            self.input.consume(blank);
            if blank == 0 {
                return Ok(None);
            }
        }
    }
}

/// A block of these bytes.
fn block(place: Place, last: bool, bytes: &[u8]) -> Found {
    match std::str::from_utf8(bytes) {
        Ok(text) if last && !place.within && text.trim().is_empty() => Found::Fault(Fault::empty(place.at)),
        Ok(text) => Found::Block(Block { place, last, content: Content::Text(text.to_owned()) }),
        Err(error) => Found::Fault(Fault::not_utf8(place.at, &error)),
    }
}

impl Blocks for TextBlocks {
    fn next(&mut self) -> Result<Found> {
        let fault = if self.within { self.input.fill(self.block + 1)? } else { self.skip_blank()? };
        if let Some(fault) = fault {
            self.within = false;
            return Ok(Found::Fault(fault));
        }
        let (place, text) = (self.place(), self.input.unused());
        if text.is_empty() && !self.within {
            return Ok(Found::End);
        }
        let cut = first_block(text, self.documents, self.block);
        let found = block(place, cut.last, &text[..cut.block]);
        // A block after one that is left out begins a document of its own.
        self.within = !cut.last && matches!(found, Found::Block(_));
        self.input.consume(cut.consumed);
        Ok(found)
    }

    fn place(&self) -> Place {
        Place { at: self.input.at(), within: self.within }
    }

    fn seek(&mut self, place: Place) -> Result<()> {
        self.input.seek(place.at)?;
        self.within = place.within;
        Ok(())
    }
}
