//! Indexed data sets of Megatron-LM: ids in a `.bin`, where documents begin in an `.idx` beside it.
//!
//! The layout is that of `megatron/core/datasets/indexed_dataset.py`: magic and version; the element type; how many
//! sequences there are and how many entries of documents; the length of each sequence in ids (`i32`) and where it begins in
//! bytes (`i64`); and the sequence that each document begins with, with a last entry behind them all (`i64`).

use super::raw::widths;
use super::{Format, Holds, Request};
use crate::files::Origin;
use crate::shard::Shard;
use crate::shard::tokens::{self, Ends, Extent, Ids};
use halite_disk::Readable;
use halite_support::files::cannot;
use halite_support::{Diagnostic, Result, codes};
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) const FORMAT: Format = Format {
    word: "megatron",
    about: "Tokens of Megatron: a `.bin` beside its `.idx`.",
    extensions: &["bin"],
    holds: Holds::Tokens { open, marks_ends: true },
};

fn open(request: &Request<'_>) -> Result<Box<dyn Shard>> {
    let file = request.origin.open()?;
    let index = Index::open(&indexed(request.origin)?)?;
    let extent = Extent { ids: index.ids, offset: 0, count: index.tokens()? };
    Ok(request.shard(file, extent, Ends::At(Arc::new(index))))
}

/// The index beside a file.
fn indexed(origin: &Origin) -> Result<Origin> {
    let index = origin.with_extension("idx");
    if index.path.exists() {
        return Ok(index);
    }
    let message =
        format!("`{}` has no `{}` beside it, as files of Megatron do", origin.path.display(), index.path.display());
    let words: Vec<String> = widths().map(|(format, _)| format!("`format = \"{}\"`", format.word)).collect();
    let stated = words.join(" or ");
    let help = format!("of token ids alone, as nanoGPT and llm.c write them, state the width: {stated}");
    Err(Diagnostic::error(codes::DATA, message).help(help))
}

pub(crate) const MAGIC: &[u8] = b"MMIDIDX\x00\x00";
pub(crate) const VERSION: u64 = 1;

/// Magic, version, element type, and two counts.
const HEADER: u64 = 9 + 8 + 1 + 8 + 8;

/// The codes of element types.
pub(crate) const CODES: [(u8, Ids); 3] = [(8, Ids::U16), (4, Ids::I32), (5, Ids::I64)];

/// An `.idx`, of which only what is asked for is read.
struct Index {
    path: PathBuf,
    file: Readable,
    ids: Ids,
    sequences: u64,
    /// Entries of documents, one more than there are.
    entries: u64,
}

impl Index {
    fn open(origin: &Origin) -> Result<Self> {
        let path = &origin.path;
        let fault = |error: std::io::Error| cannot("read", path, &error);
        let wrong = |what: String| {
            let message = format!("`{}` {what}", path.display());
            Err(Diagnostic::error(codes::DATA, message).help("write it again with Megatron's `preprocess_data.py`"))
        };
        let file = origin.open()?;
        let length = file.size().map_err(fault)?;
        let mut header = [0; HEADER as usize];
        if length >= HEADER {
            file.read_exact_at(&mut header, 0).map_err(fault)?;
        }
        if !header.starts_with(MAGIC) {
            return wrong("is not an index of Megatron".to_owned());
        }
        let word = |at: usize| header[at..at + 8].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let (version, code, sequences, entries) = (word(9), header[17], word(18), word(26));
        if version != VERSION {
            return wrong(format!("is of version {version}, expected {VERSION}"));
        }
        let Some((_, ids)) = CODES.iter().find(|(own, _)| *own == code) else {
            return wrong(format!("has elements of type {code}, expected 4 (i32), 5 (i64) or 8 (u16)"));
        };
        let expected = u128::from(HEADER) + 12 * u128::from(sequences) + 8 * u128::from(entries);
        if u128::from(length) != expected || entries == 0 {
            return wrong(format!("has {length} bytes, expected {expected}"));
        }
        Ok(Self { path: path.clone(), file, ids: *ids, sequences, entries })
    }

    /// Ids in all sequences.
    fn tokens(&self) -> Result<u64> {
        self.start_of_sequence(self.sequences)
    }

    fn start_of_document(&self, document: u64) -> Result<u64> {
        let sequence = self.word(HEADER + 12 * self.sequences + 8 * document, 8)?;
        if sequence > self.sequences {
            return Err(self.inconsistent(format!("names sequence {sequence} of {}", self.sequences)));
        }
        self.start_of_sequence(sequence)
    }

    /// In ids; the end of all where there is no such sequence.
    fn start_of_sequence(&self, sequence: u64) -> Result<u64> {
        let start = |sequence| {
            let bytes = self.word(HEADER + 4 * self.sequences + 8 * sequence, 8)?;
            Ok(bytes / self.ids.bytes() as u64)
        };
        match sequence.checked_sub(1) {
            _ if sequence < self.sequences => start(sequence),
            Some(last) => Ok(start(last)?.saturating_add(self.word(HEADER + 4 * last, 4)?)),
            None => Ok(0),
        }
    }

    fn word(&self, at: u64, size: usize) -> Result<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes[..size], at).map_err(|error| cannot("read", &self.path, &error))?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn inconsistent(&self, what: String) -> Diagnostic {
        let message = format!("`{}` {what}", self.path.display());
        Diagnostic::error(codes::DATA, message).help("write it again with Megatron's `preprocess_data.py`")
    }
}

impl tokens::Index for Index {
    fn end_after(&self, at: u64) -> Result<u64> {
        let (mut low, mut high) = (0, self.entries - 1);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.start_of_document(middle)? > at {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        let end = self.start_of_document(low)?;
        if end <= at {
            return Err(self.inconsistent(format!("has no document with token {at}")));
        }
        Ok(end)
    }
}
