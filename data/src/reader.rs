//! Reading the files of a source, epoch after epoch.

use crate::config::OnError;
use crate::dataset::Skipped;
use crate::random::{hash, shuffle};
use crate::shard::{Block, Blocks, Fault, Found, Place, Reason, Shard, not_ours};
use halite_support::{Diagnostic, Result, codes};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The constant that sets the order of files apart from that of rows.
const SHARDS: u64 = 1;

/// The position of reading.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cursor {
    /// The number of times that all files were read.
    pub(crate) epoch: u64,
    /// The number of files of this epoch that were read.
    pub(crate) turn: usize,
    /// The place in the next file; `None` at its begin.
    pub(crate) place: Option<Place>,
}

impl Cursor {
    /// Whether an epoch begins here.
    pub(crate) fn is_start(&self) -> bool {
        self.turn == 0 && self.place.is_none()
    }

    /// Whether the next block goes on with a document.
    pub(crate) fn is_within(&self) -> bool {
        self.place.is_some_and(|place| place.within)
    }
}

/// Reads files in the order of each epoch.
pub(crate) struct Reader {
    shards: Vec<Box<dyn Shard>>,
    /// The bytes of each file when reading began, where the system says so.
    sizes: Vec<Option<u64>>,
    on_error: OnError,
    /// The seed that the order of files is drawn from; `None` for their own order.
    seed: Option<u64>,
    cursor: Cursor,
    order: Vec<usize>,
    blocks: Option<Box<dyn Blocks>>,
    skipped: BTreeMap<Reason, (u64, String)>,
}

impl Reader {
    pub(crate) fn new(shards: Vec<Box<dyn Shard>>, on_error: OnError, seed: Option<u64>) -> Self {
        let (cursor, skipped) = (Cursor::default(), BTreeMap::new());
        let sizes = shards.iter().map(|shard| size(&**shard)).collect();
        let mut reader = Self { shards, sizes, on_error, seed, cursor, order: Vec::new(), blocks: None, skipped };
        reader.order = reader.order_of(0);
        reader
    }

    /// The number of files.
    pub(crate) fn files(&self) -> usize {
        self.shards.len()
    }

    /// The files, in a few words.
    pub(crate) fn describe(&self) -> String {
        match &self.shards[..] {
            [] => "no file".to_owned(),
            [only] => format!("`{}`", only.path().display()),
            [first, rest @ ..] => format!("`{}` and {} more files", first.path().display(), rest.len()),
        }
    }

    /// Its position.
    pub(crate) fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    /// Goes on from a position, and forgets the documents that were left out.
    pub(crate) fn seek(&mut self, cursor: &Cursor) -> Result<()> {
        if cursor.turn > self.shards.len() {
            let message = format!("the position is at file {} of {}", cursor.turn, self.shards.len());
            return Err(not_ours(message));
        }
        self.go_to(cursor.clone());
        self.skipped.clear();
        Ok(())
    }

    /// Calls `act` on itself, and where that fails stays as it was before.
    pub(crate) fn attempt<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let (cursor, skipped) = (self.cursor.clone(), self.skipped.clone());
        let result = act(self);
        if result.is_err() {
            self.go_to(cursor);
            self.skipped = skipped;
        }
        result
    }

    fn go_to(&mut self, cursor: Cursor) {
        self.order = self.order_of(cursor.epoch);
        (self.cursor, self.blocks) = (cursor, None);
    }

    /// The next blocks of this epoch with the numbers of their files, of at least so many bytes or tokens if there are; none at its
    /// end, after which the next epoch begins.
    pub(crate) fn batch(&mut self, size: usize) -> Result<Vec<(usize, Block)>> {
        let (mut batch, mut held) = (Vec::new(), 0);
        while held < size {
            let Some(&shard) = self.order.get(self.cursor.turn) else { break };
            match self.next_of(shard)? {
                Found::Block(block) => {
                    held += block.content.size();
                    batch.push((shard, block));
                }
                Found::Fault(fault) => self.skip(shard, &fault)?,
                Found::End => {
                    let turn = self.cursor.turn + 1;
                    (self.cursor, self.blocks) = (Cursor { turn, place: None, ..self.cursor }, None);
                }
            }
        }
        if batch.is_empty() {
            self.go_to(Cursor { epoch: self.cursor.epoch + 1, ..Cursor::default() });
        }
        Ok(batch)
    }

    /// The blocks that begin at these places, in the order of the places.
    pub(crate) fn blocks_at(&self, places: &[(usize, Place)]) -> Result<Vec<Block>> {
        let changed = || not_ours("the position names a document that is not there".to_owned());
        let mut open: Option<(usize, Box<dyn Blocks>)> = None;
        let mut found = Vec::with_capacity(places.len());
        for &(number, place) in places {
            let shard = self.shards.get(number).ok_or_else(changed)?;
            let blocks = match &mut open {
                Some((own, blocks)) if *own == number => blocks,
                other => &mut other.insert((number, shard.open()?)).1,
            };
            blocks.seek(place)?;
            let Found::Block(block) = blocks.next()? else { return Err(changed()) };
            found.push(block);
        }
        Ok(found)
    }

    /// The documents that were left out, by reason.
    pub(crate) fn skipped(&self) -> Vec<Skipped> {
        let skipped = |(reason, (count, example)): (&Reason, &(u64, String))| Skipped {
            reason: reason.words().to_owned(),
            count: *count,
            example: example.clone(),
        };
        self.skipped.iter().map(skipped).collect()
    }

    /// The next block of a file, or the error that the file is another than when reading began, which is checked at its begin and its
    /// end, and where something is wrong with it.
    fn next_of(&mut self, shard: usize) -> Result<Found> {
        if self.blocks.is_none() {
            self.unchanged(shard)?;
        }
        let found = self.read(shard);
        if !matches!(found, Ok(Found::Block(_))) {
            self.unchanged(shard)?;
        }
        found
    }

    /// Checks that a file has as many bytes as when reading began.
    fn unchanged(&self, shard: usize) -> Result<()> {
        let (before, path) = (self.sizes[shard], self.shards[shard].path().display());
        let found = match (size(&*self.shards[shard]), before) {
            (now, before) if now == before => return Ok(()),
            (Some(now), Some(before)) => format!("has {now} bytes, expected {before} as when reading began"),
            _ => "is gone, or was made, while it is read".to_owned(),
        };
        let help = "leave the files alone while a run reads them; put back the one that was there, and resume from the state that was saved last";
        Err(Diagnostic::error(codes::DATA, format!("`{path}` {found}")).help(help))
    }

    fn read(&mut self, shard: usize) -> Result<Found> {
        let blocks = match &mut self.blocks {
            Some(blocks) => blocks,
            none => {
                let mut blocks = self.shards[shard].open()?;
                if let Some(place) = self.cursor.place {
                    blocks.seek(place)?;
                }
                none.insert(blocks)
            }
        };
        let found = blocks.next()?;
        self.cursor.place = Some(blocks.place());
        Ok(found)
    }

    fn skip(&mut self, shard: usize, fault: &Fault) -> Result<()> {
        let locate = || self.shards[shard].locate(fault.at);
        if self.on_error == OnError::Stop && !fault.reason.is_harmless() {
            return Err(fault.at_place(&locate()));
        }
        self.skipped.entry(fault.reason).or_insert_with(|| (0, locate())).0 += 1;
        Ok(())
    }

    fn order_of(&self, epoch: u64) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.shards.len()).collect();
        if let Some(seed) = self.seed {
            shuffle(&mut order, hash(&[seed, SHARDS, epoch]));
        }
        order
    }
}

/// The bytes of a file, where the system says so.
fn size(shard: &dyn Shard) -> Option<u64> {
    shard.path().metadata().ok().map(|metadata| metadata.len())
}
