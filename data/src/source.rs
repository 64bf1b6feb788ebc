//! Where documents come from: files, read block by block from any place.

mod array;
mod coding;
mod cuts;
mod fault;
mod input;
mod jsonl;
pub(crate) mod megatron;
mod npy;
#[cfg(feature = "parquet")]
mod parquet;
mod raw;
mod text;
pub(crate) mod tokens;

pub(crate) use coding::Coding;
pub(crate) use fault::{Fault, Reason};
pub(crate) use input::Input;
pub(crate) use jsonl::JsonlShard;
#[cfg(all(test, feature = "parquet"))]
pub(crate) use parquet::ParquetShard;
pub(crate) use text::TextShard;

use array::{ArrayShard, is_array};
use megatron::Index;
use npy::Header;
use raw::Extent;
use tokens::{Ends, Ids, TokenShard};

use crate::config::{Documents, Format, SourceConfig};
use crate::encoder::Encoder;
use crate::files::Origin;
use crate::part::Part;
use halite_support::{Diagnostic, Result, codes};
use serde::{Deserialize, Serialize};
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

/// The most bytes of a text that are tokenized as one, or tokens that are read at once. A shorter document is one block.
pub(crate) const BLOCK: usize = 1 << 20;

/// The most bytes of a line, or of the text of a row: it is held as a whole.
pub(crate) const LONGEST: usize = 1 << 26;

/// What editors of other systems put before a text.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Where a block of a file begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    /// Bytes of the text, tokens or rows before it.
    pub(crate) at: u64,
    /// Whether it goes on with a document that began in the block before.
    pub(crate) within: bool,
}

/// A document or, where that is long, a part of it.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) place: Place,
    /// Whether the document ends with it.
    pub(crate) last: bool,
    pub(crate) content: Content,
}

/// What is in a block.
#[derive(Debug)]
pub(crate) enum Content {
    Text(String),
    Tokens(Vec<i32>),
}

impl Content {
    /// Bytes of the text, or tokens.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Tokens(tokens) => tokens.len(),
        }
    }
}

/// What reading comes upon.
pub(crate) enum Found {
    Block(Block),
    /// Something that is no document; reading can go on after it.
    Fault(Fault),
    End,
}

/// A file with documents, or the part of one that is used.
pub(crate) trait Shard: Send + Sync {
    /// The file.
    fn path(&self) -> &Path;

    /// Where in the file something is, for people: `FILE:LINE`, or the file and an offset.
    fn locate(&self, at: u64) -> String;

    /// Its blocks, from the first one on.
    fn open(&self) -> Result<Box<dyn Blocks>>;
}

/// Blocks of a shard, one after another.
pub(crate) trait Blocks: Send {
    fn next(&mut self) -> Result<Found>;

    /// Where the next one begins.
    fn place(&self) -> Place;

    /// Goes on from a place where a block begins.
    fn seek(&mut self, place: Place) -> Result<()>;
}

/// Whether an error of reading says that the content is wrong, rather than that it could not be read.
pub(crate) fn is_damage(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::UnexpectedEof | ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::Other)
}

/// A position that does not fit the data.
pub(crate) fn not_ours(message: String) -> Diagnostic {
    Diagnostic::error(codes::OTHER_RUN, message).help("resume with the data that the state was saved with")
}

/// `FILE:LINE` of a byte of a text, or the byte where the text before it cannot be read.
fn locate(origin: &Origin, coding: Coding, at: u64) -> String {
    let path = &origin.path;
    match count_lines(origin, coding, at) {
        Some(lines) => format!("{}:{}", path.display(), lines + 1),
        None => format!("{}, byte {at} of the text", path.display()),
    }
}

/// How many lines end before a byte.
fn count_lines(origin: &Origin, coding: Coding, at: u64) -> Option<usize> {
    let mut text = coding.open(origin, 0).ok()?.take(at);
    let (mut buffer, mut lines) = ([0; 1 << 14], 0);
    loop {
        match text.read(&mut buffer).ok()? {
            0 => return Some(lines),
            read => lines += buffer[..read].iter().filter(|byte| **byte == b'\n').count(),
        }
    }
}

/// The shard that a file is, as its source says; token files are of the ids of the encoder.
pub(crate) fn open(origin: &Origin, config: &SourceConfig, part: Part, encoder: &Encoder) -> Result<Box<dyn Shard>> {
    let path = &origin.path;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (coding, name) = Coding::of(&name);
    let format = config.format.map_or_else(|| Format::of(name), Some).ok_or_else(|| {
        let message = format!("the name of `{}` does not say what is in it", path.display());
        Diagnostic::error(codes::NOT_SUPPORTED, message).help("state the `format` of the source")
    })?;
    if coding.is_decoded() && !matches!(format, Format::Text | Format::Jsonl) {
        let message = format!("`{}` is compressed and holds no lines of text", path.display());
        return Err(Diagnostic::error(codes::NOT_SUPPORTED, message).help("decompress it"));
    }
    if coding.is_decoded() && part != Part::ALL {
        let message = format!("`{}` is compressed, so that no part of it can be found", path.display());
        return Err(Diagnostic::error(codes::NOT_SUPPORTED, message).help("decompress it, or use it as a whole"));
    }
    let range = |documents| if coding.is_decoded() { Ok(0..u64::MAX) } else { part.of_text(origin, documents) };
    Ok(match format {
        Format::Text => Box::new(TextShard {
            origin: origin.clone(),
            coding,
            documents: config.documents,
            range: range(config.documents)?,
            block: BLOCK,
        }),
        Format::Jsonl if is_array(origin, coding)? => {
            if part != Part::ALL {
                let message = format!("`{}` is one array of JSON, of which no part can be taken", path.display());
                return Err(Diagnostic::error(codes::NOT_SUPPORTED, message)
                    .help("write each object on a line of its own, or use it as a whole"));
            }
            Box::new(ArrayShard { origin: origin.clone(), coding, column: config.column.clone() })
        }
        Format::Jsonl => Box::new(JsonlShard {
            origin: origin.clone(),
            coding,
            column: config.column.clone(),
            range: range(Documents::Line)?,
        }),
        Format::Npy | Format::Megatron | Format::U16 | Format::U32 => {
            Box::new(open_tokens(origin, format, part, encoder)?)
        }
        Format::Parquet => open_table(origin, &config.column, part)?,
        Format::Examples => {
            let message = format!("`{}` holds examples, which have no documents", origin.path.display());
            return Err(Diagnostic::error(codes::DATA, message).help("give files with text or tokens"));
        }
    })
}

#[cfg(feature = "parquet")]
fn open_table(origin: &Origin, column: &str, part: Part) -> Result<Box<dyn Shard>> {
    Ok(Box::new(parquet::ParquetShard::open(origin, column, part)?))
}

#[cfg(not(feature = "parquet"))]
fn open_table(origin: &Origin, _: &str, _: Part) -> Result<Box<dyn Shard>> {
    let what = format!("`{}` is a table in Parquet", origin.path.display());
    Err(crate::features::lacking(&what, "parquet", "write it as JSON lines"))
}

fn open_tokens(origin: &Origin, format: Format, part: Part, encoder: &Encoder) -> Result<TokenShard> {
    let (path, file) = (&origin.path, origin.open()?);
    let marked = || Ends::After(encoder.eos());
    let raw = |ids| Extent::read(&file, path, ids).map(|Extent { offset, count }| (ids, offset, count, marked()));
    let (ids, offset, stated, ends) = match format {
        Format::Npy => {
            let Header { ids, offset, count } = Header::read(&file, path)?;
            (ids, offset, count, marked())
        }
        Format::U16 => raw(Ids::U16)?,
        Format::U32 => raw(Ids::U32)?,
        _ => {
            let index = Index::open(&indexed(origin)?)?;
            (index.ids, 0, index.tokens()?, Ends::At(Arc::new(index)))
        }
    };
    let (path, file, range, vocabulary) = (path.clone(), file, part.of(stated), encoder.vocabulary());
    Ok(TokenShard { path, file, ids, offset, stated, range, ends, vocabulary })
}

/// The index beside a file of Megatron.
fn indexed(origin: &Origin) -> Result<Origin> {
    let index = origin.with_extension("idx");
    if index.path.exists() {
        return Ok(index);
    }
    let message =
        format!("`{}` has no `{}` beside it, as files of Megatron do", origin.path.display(), index.path.display());
    let error = Diagnostic::error(codes::DATA, message);
    Err(error
        .help("of token ids alone, as nanoGPT and llm.c write them, state the width: `format = \"u16\"` or `\"u32\"`"))
}
