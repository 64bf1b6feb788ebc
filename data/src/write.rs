//! Documents as files of token ids, so that they are tokenized once.

use crate::config::DataConfig;
use crate::count::read;
use crate::counted::Counted;
use crate::encoder::Encoder;
use crate::formats::megatron::{CODES, MAGIC, VERSION};
use crate::shard::tokens::Ids;
use halite_disk::{Destination, Disk, Unfinished};
use halite_support::files::cannot;
use halite_support::{Diagnostic, Result, codes};
use std::path::Path;

/// Writes the documents of all sources, one after another and each once, as an indexed data set of Megatron-LM: `out`, which
/// ends in `.bin`, and an `.idx` beside it. Ids are `u16` where the vocabulary allows it, else `i32`. The length of each
/// document is held until the end. `observe` hears how far reading is. Returned is what was written of each source.
///
/// # Errors
/// When `out` has another ending, a document cannot be read, or a file cannot be written; both files are as they were then,
/// or, where the last of them fails, the `.bin` is new.
pub fn write_tokens(
    config: &DataConfig,
    base: &Path,
    disk: &Disk,
    out: &Path,
    observe: &mut dyn FnMut(&Counted),
) -> Result<Vec<Counted>> {
    if out.extension().is_none_or(|ending| ending != "bin") {
        let message = format!("tokens are to be written to `{}`, which does not end in `.bin`", out.display());
        return Err(Diagnostic::error(codes::USAGE, message).help("name a file such as `tokens.bin`"));
    }
    let encoder = Encoder::open(config, base)?;
    let ids = if encoder.vocabulary() <= 1 << 16 { Ids::U16 } else { Ids::I32 };
    let mut bin = unfinished(disk, out)?;
    let (mut lengths, mut written) = (Vec::new(), Vec::new());
    for source in &config.sources {
        let counted = read(config, source, base, &encoder, observe, |block, tokens| {
            add(&mut lengths, block.place.within, tokens.len(), &source.name)?;
            bin.write(&bytes(tokens, ids)).map_err(|error| cannot("write", out, &error))
        });
        written.push(counted?);
    }
    let index = index(&lengths, ids);
    let place = out.with_extension("idx");
    let mut idx = unfinished(disk, &place)?;
    idx.write(&index).map_err(|error| cannot("write", &place, &error))?;
    idx.sync().map_err(|error| cannot("write", &place, &error))?;
    bin.finish().map_err(|error| cannot("write", out, &error))?;
    idx.finish().map_err(|error| cannot("write", &place, &error))?;
    Ok(written)
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
