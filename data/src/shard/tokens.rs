//! Files of token ids.

use super::block::{BLOCK, Block, Content};
use super::fault::{Fault, Reason};
use super::place::{Place, not_ours};
use super::{Blocks, Found, Shard};
use halite_disk::Readable;
use halite_support::files::cannot;
use halite_support::{Diagnostic, Result, codes};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The element type of ids, which are stored little-endian.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ids {
    U16,
    U32,
    I32,
    I64,
}

impl Ids {
    /// Bytes of an id.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::U16 => 2,
            Self::U32 | Self::I32 => 4,
            Self::I64 => 8,
        }
    }

    fn id(self, bytes: &[u8]) -> i64 {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        match self {
            Self::U16 | Self::U32 | Self::I64 => i64::from_le_bytes(word),
            Self::I32 => i64::from(i64::from_le_bytes(word) as i32),
        }
    }
}

/// The ends of documents.
#[derive(Clone)]
pub(crate) enum Ends {
    /// After this id; without one, where the file does.
    After(Option<i32>),
    /// At the places of an index.
    At(Arc<dyn Index>),
}

/// An index of the ends of documents.
pub(crate) trait Index: Send + Sync {
    /// The end of the document that holds an id.
    fn end_after(&self, at: u64) -> Result<u64>;
}

/// The place and the number of the ids of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    pub(crate) ids: Ids,
    /// The offset of the first id, in bytes.
    pub(crate) offset: u64,
    /// The number of ids that the file says it has.
    pub(crate) count: u64,
}

/// A file of token ids, or the part of one that is used.
#[derive(Clone)]
pub(crate) struct TokenShard {
    pub(crate) path: PathBuf,
    pub(crate) file: Readable,
    pub(crate) extent: Extent,
    /// Ids that are used.
    pub(crate) range: Range<u64>,
    pub(crate) ends: Ends,
    /// The number of ids that the tokenizer knows.
    pub(crate) vocabulary: u64,
}

impl Shard for TokenShard {
    fn path(&self) -> &Path {
        &self.path
    }

    fn locate(&self, at: u64) -> String {
        format!("{}, token {at}", self.path.display())
    }

    fn open(&self) -> Result<Box<dyn Blocks>> {
        let length = self.file.size().map_err(|error| cannot("read", &self.path, &error))?;
        let there = length.saturating_sub(self.extent.offset) / self.extent.ids.bytes() as u64;
        let (at, shard) = (self.range.start, self.clone());
        Ok(Box::new(TokenBlocks { shard, there, at, buffer: Vec::new(), start: 0, within: false }))
    }
}

struct TokenBlocks {
    shard: TokenShard,
    /// Ids that are there.
    there: u64,
    at: u64,
    /// The ids that were read; those before `start` are used.
    buffer: Vec<i32>,
    start: usize,
    within: bool,
}

impl TokenBlocks {
    /// Reads on until a block of ids is there, or all.
    fn fill(&mut self) -> Result<()> {
        let end = self.shard.range.end.min(self.there);
        let held = (self.buffer.len() - self.start) as u64;
        let left = end.saturating_sub(self.at + held);
        if held >= BLOCK as u64 || left == 0 {
            return Ok(());
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        let Extent { ids, offset, .. } = self.shard.extent;
        let (first, bytes) = (self.at + held, ids.bytes());
        let mut read = vec![0; left.min(BLOCK as u64) as usize * bytes];
        let place = offset + first * bytes as u64;
        let fault = |error: std::io::Error| cannot("read", &self.shard.path, &error);
        self.shard.file.read_exact_at(&mut read, place).map_err(fault)?;
        for (at, id) in (first..).zip(read.chunks_exact(bytes)) {
            let id = ids.id(id);
            if !(0..self.shard.vocabulary.min(1 << 31) as i64).contains(&id) {
                return Err(unknown(&self.shard, id, at));
            }
            self.buffer.push(id as i32);
        }
        Ok(())
    }

    /// The number of ids at hand that belong to the document, and whether it ends with them.
    fn document(&self) -> Result<(usize, bool)> {
        let held = &self.buffer[self.start..];
        let held = &held[..held.len().min(BLOCK)];
        let end = match &self.shard.ends {
            Ends::After(eos) => held.iter().position(|id| Some(*id) == *eos).map(|last| last as u64 + 1),
            Ends::At(index) => Some(index.end_after(self.at)? - self.at),
        };
        let left = self.shard.range.end - self.at;
        let end = end.unwrap_or(left).min(left);
        Ok((end.min(held.len() as u64) as usize, end <= held.len() as u64))
    }
}

impl Blocks for TokenBlocks {
    fn next(&mut self) -> Result<Found> {
        if self.at >= self.shard.range.end {
            return Ok(Found::End);
        }
        self.fill()?;
        let (count, last) = self.document()?;
        if self.at + count as u64 >= self.there && !last {
            let detail = format!("the file ends after {} tokens, expected {}", self.there, self.shard.extent.count);
            let fault = Fault { reason: Reason::Damaged, at: self.there, detail };
            (self.at, self.within) = (self.shard.range.end, false);
            return Ok(Found::Fault(fault));
        }
        let place = self.place();
        let tokens = self.buffer[self.start..self.start + count].to_vec();
        (self.start, self.at, self.within) = (self.start + count, self.at + count as u64, !last);
        Ok(Found::Block(Block { place, last, content: Content::Tokens(tokens) }))
    }

    fn place(&self) -> Place {
        Place { at: self.at, within: self.within }
    }

    fn seek(&mut self, place: Place) -> Result<()> {
        let Range { start, end } = self.shard.range;
        if !(start..=end).contains(&place.at) {
            return Err(not_ours(format!("the position is at {}, which is not used", self.shard.locate(place.at))));
        }
        (self.at, self.within) = (place.at, place.within);
        (self.buffer, self.start) = (Vec::new(), 0);
        Ok(())
    }
}

fn unknown(shard: &TokenShard, id: i64, at: u64) -> Diagnostic {
    let message = format!("{}: the id {id}, the tokenizer knows {}", shard.locate(at), shard.vocabulary);
    Diagnostic::error(codes::DATA, message).help("name the tokenizer that the file was written with")
}
