//! Documents as files of token ids, so that they are tokenized once.

use crate::config::DataConfig;
use crate::dataset::Skipped;
use crate::encoder::Encoder;
use crate::open::open_reader;
use crate::source::megatron::{CODES, MAGIC, VERSION};
use crate::source::tokens::Ids;
use halite_disk::{Destination, Disk, Unfinished};
use halite_support::files::cannot;
use halite_support::{Diagnostic, Result, codes};
use std::path::Path;

/// How many bytes of text are read at once.
const BATCH: usize = 1 << 22;

/// What was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    /// Documents in the files.
    pub documents: u64,
    /// Their tokens, marks included.
    pub tokens: u64,
    /// What was left out.
    pub skipped: Vec<Skipped>,
}

/// Writes the documents of all sources, one after another and each once, as an indexed data set of Megatron-LM: `out`, which
/// ends in `.bin`, and an `.idx` beside it. Ids are `u16` where the vocabulary allows it, else `i32`. The length of each
/// document is held until the end.
///
/// # Errors
/// When `out` has another ending, a document cannot be read, or a file cannot be written; both files are as they were then,
/// or, where the last of them fails, the `.bin` is new.
pub fn write_tokens(config: &DataConfig, base: &Path, disk: &Disk, out: &Path) -> Result<Written> {
    if out.extension().is_none_or(|ending| ending != "bin") {
        let message = format!("tokens are to be written to `{}`, which does not end in `.bin`", out.display());
        return Err(Diagnostic::error(codes::USAGE, message).help("name a file such as `tokens.bin`"));
    }
    let encoder = Encoder::open(config, base)?;
    let ids = if encoder.vocabulary() <= 1 << 16 { Ids::U16 } else { Ids::I32 };
    let mut bin = unfinished(disk, out)?;
    let (mut lengths, mut skipped) = (Vec::new(), Vec::new());
    for source in &config.sources {
        let mut reader = open_reader(config, source, base, None, &encoder)?;
        loop {
            let batch = reader.batch(BATCH)?;
            if batch.is_empty() {
                break;
            }
            let blocks: Vec<_> = batch.iter().map(|(_, block)| block).collect();
            for (block, tokens) in blocks.iter().zip(encoder.encode(&blocks)?) {
                add(&mut lengths, block.place.within, tokens.len(), &source.name)?;
                bin.write(&bytes(&tokens, ids)).map_err(|error| cannot("write", out, &error))?;
            }
        }
        skipped.extend(reader.skipped());
    }
    let index = index(&lengths, ids);
    let place = out.with_extension("idx");
    let mut idx = unfinished(disk, &place)?;
    idx.write(&index).map_err(|error| cannot("write", &place, &error))?;
    idx.sync().map_err(|error| cannot("write", &place, &error))?;
    bin.finish().map_err(|error| cannot("write", out, &error))?;
    idx.finish().map_err(|error| cannot("write", &place, &error))?;
    let tokens = lengths.iter().map(|length| i64::from(*length) as u64).sum();
    Ok(Written { documents: lengths.len() as u64, tokens, skipped })
}

fn unfinished(disk: &Disk, place: &Path) -> Result<Unfinished> {
    let fault = |error: std::io::Error| cannot("write", place, &error);
    match Destination::of(place).map_err(fault)? {
        Destination::File(file) => Unfinished::new(disk, &file).map_err(fault),
        _ => Err(fault(std::io::ErrorKind::Unsupported.into())),
    }
}

/// Counts the tokens of a block. The format has 31 bits for the length of a document.
fn add(lengths: &mut Vec<i32>, within: bool, tokens: usize, source: &str) -> Result<()> {
    if !within || lengths.is_empty() {
        lengths.push(0);
    }
    let too_long = || {
        let message = format!("a document of source `{source}` has more tokens than the format holds, {}", i32::MAX);
        Diagnostic::error(codes::DATA, message).help("cut the text into documents, e.g. with `documents = \"blank\"`")
    };
    let Some(last) = lengths.last_mut() else { return Ok(()) };
    *last = i32::try_from(tokens).ok().and_then(|tokens| last.checked_add(tokens)).ok_or_else(too_long)?;
    Ok(())
}

fn bytes(tokens: &[i32], ids: Ids) -> Vec<u8> {
    tokens.iter().flat_map(|id| id.to_le_bytes().into_iter().take(ids.bytes())).collect()
}

/// The content of the `.idx`, in which each document is one sequence.
fn index(lengths: &[i32], ids: Ids) -> Vec<u8> {
    let code = CODES.iter().find(|(_, own)| *own == ids).map_or(0, |(code, _)| *code);
    let count = lengths.len() as u64;
    let mut index = [MAGIC, &VERSION.to_le_bytes(), &[code], &count.to_le_bytes(), &(count + 1).to_le_bytes()].concat();
    index.extend(lengths.iter().flat_map(|length| length.to_le_bytes()));
    let start = |start: &mut i64, length: &i32| {
        Some(std::mem::replace(start, *start + i64::from(*length) * ids.bytes() as i64))
    };
    index.extend(lengths.iter().scan(0, start).flat_map(i64::to_le_bytes));
    index.extend((0..=count).flat_map(u64::to_le_bytes));
    index
}
