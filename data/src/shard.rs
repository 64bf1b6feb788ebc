//! Files of documents, read block by block from any place: the parts that all formats share.

mod block;
mod coding;
mod fault;
mod input;
mod locate;
mod place;
pub(crate) mod tokens;

pub(crate) use block::{BLOCK, Block, Content, LONGEST};
pub(crate) use coding::Coding;
pub(crate) use fault::{Fault, Reason, is_damage};
pub(crate) use input::{BYTE_ORDER_MARK, Input};
pub(crate) use locate::locate;
pub(crate) use place::{Place, not_ours};

use halite_support::Result;
use std::path::Path;

/// A file with documents, or the part of one that is used.
pub(crate) trait Shard: Send + Sync {
    /// The file.
    fn path(&self) -> &Path;

    /// The place of something in the file, for people: `FILE:LINE`, or the file and an offset.
    fn locate(&self, at: u64) -> String;

    /// Its blocks, from the first one on.
    fn open(&self) -> Result<Box<dyn Blocks>>;
}

/// Blocks of a shard, one after another.
pub(crate) trait Blocks: Send {
    fn next(&mut self) -> Result<Found>;

    /// The place where the next one begins.
    fn place(&self) -> Place;

    /// Goes on from a place where a block begins.
    fn seek(&mut self, place: Place) -> Result<()>;
}

/// The result of reading on.
pub(crate) enum Found {
    Block(Block),
    /// Something that is no document; reading can go on after it.
    Fault(Fault),
    End,
}
