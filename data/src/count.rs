//! Counts of documents and tokens in files, which are read once.

use crate::config::{DataConfig, SourceConfig};
use crate::counted::Counted;
use crate::encoder::Encoder;
use crate::files::Root;
use crate::open::{named, open_reader};
use crate::shard::Block;
use halite_disk::Disk;
use halite_support::Result;
use std::path::Path;

/// The number of bytes of text that are read at once.
const BATCH: usize = 1 << 22;

/// Reads and tokenizes each source once, in the order of its files. `observe` gets the counts so far.
///
/// # Errors
/// When a file or tokenizer cannot be read, or a document that is not to be left out.
pub fn count(config: &DataConfig, base: &Path, observe: &mut dyn FnMut(&Counted)) -> Result<Vec<Counted>> {
    let encoder = Encoder::open(config, base)?;
    let of_source = |source| read(config, source, base, &encoder, observe, |_, _| Ok(()));
    config.sources.iter().map(of_source).collect()
}

/// Hands the blocks of a source over with their tokens.
pub(crate) fn read(
    config: &DataConfig,
    source: &SourceConfig,
    base: &Path,
    encoder: &Encoder,
    observe: &mut dyn FnMut(&Counted),
    mut take: impl FnMut(&Block, &[i32]) -> Result<()>,
) -> Result<Counted> {
    let mut reader = open_reader(config, source, Root { base, disk: &Disk::default() }, None, encoder)?;
    let mut counted = Counted::new(&source.name, &reader);
    loop {
        let batch = reader.batch(BATCH).map_err(|error| named(error, source))?;
        counted.skipped = reader.skipped();
        if batch.is_empty() {
            return Ok(counted);
        }
        let blocks: Vec<_> = batch.iter().map(|(_, block)| block).collect();
        for (block, tokens) in blocks.iter().zip(encoder.encode(&blocks)?) {
            counted.documents += u64::from(!block.place.within || counted.documents == 0);
            counted.tokens += tokens.len() as u64;
            take(block, &tokens)?;
        }
        observe(&counted);
    }
}
