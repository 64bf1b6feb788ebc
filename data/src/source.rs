//! Where documents come from: files, read block by block from any place.

mod coding;
mod fault;
mod input;
pub(crate) mod raw;
pub(crate) mod tokens;

pub(crate) use coding::Coding;
pub(crate) use fault::{Fault, Reason};
pub(crate) use input::Input;

use crate::config::{Documents, SourceConfig};
use crate::encoder::Encoder;
use crate::files::Origin;
use crate::formats::{Format, Holds};
use crate::part::Part;
use halite_support::{Diagnostic, Result, codes};
use serde::{Deserialize, Serialize};
use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::path::Path;
use tokens::Ends;

/// The most bytes of a text that are tokenized as one, or tokens that are read at once. A shorter document is one block.
pub(crate) const BLOCK: usize = 1 << 20;

/// The most bytes of a line, or of the text of a row: it is held as a whole.
pub(crate) const LONGEST: usize = 1 << 26;

/// What editors of other systems put before a text.
pub(crate) const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

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
pub(crate) fn locate(origin: &Origin, coding: Coding, at: u64) -> String {
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

/// A file that is to be opened, and what its source says of it.
pub(crate) struct Request<'a> {
    pub(crate) origin: &'a Origin,
    pub(crate) coding: Coding,
    pub(crate) config: &'a SourceConfig,
    /// What of the file is used; all where it is compressed.
    pub(crate) part: Part,
    /// What makes tokens of texts; files of tokens are of its ids.
    pub(crate) encoder: &'a Encoder,
}

impl Request<'_> {
    /// The bytes of a text that are used.
    pub(crate) fn range(&self, documents: Documents) -> Result<Range<u64>> {
        if self.coding.is_decoded() { Ok(0..u64::MAX) } else { self.part.of_text(self.origin, documents) }
    }

    /// That documents of tokens end with the mark of the encoder.
    pub(crate) fn marked_ends(&self) -> Ends {
        Ends::After(self.encoder.eos())
    }
}

/// The shard that a file is, as its source says.
pub(crate) fn open(origin: &Origin, config: &SourceConfig, part: Part, encoder: &Encoder) -> Result<Box<dyn Shard>> {
    let path = &origin.path;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (coding, name) = Coding::of(&name);
    let format = config.format.or_else(|| Format::of(name)).ok_or_else(|| {
        let message = format!("the name of `{}` does not say what is in it", path.display());
        Diagnostic::error(codes::NOT_SUPPORTED, message).help("state the `format` of the source")
    })?;
    if coding.is_decoded() && !matches!(format.holds, Holds::Text { may_be_compressed: true, .. }) {
        let message = format!("`{}` is compressed and holds no lines of text", path.display());
        return Err(Diagnostic::error(codes::NOT_SUPPORTED, message).help("decompress it"));
    }
    if coding.is_decoded() && part != Part::ALL {
        let message = format!("`{}` is compressed, so that no part of it can be found", path.display());
        return Err(Diagnostic::error(codes::NOT_SUPPORTED, message).help("decompress it, or use it as a whole"));
    }
    match format.holds {
        Holds::Text { open, .. } | Holds::Tokens { open, .. } => {
            open(&Request { origin, coding, config, part, encoder })
        }
        Holds::Examples { .. } => {
            let message = format!("`{}` holds examples, which have no documents", path.display());
            Err(Diagnostic::error(codes::DATA, message).help("give files with text or tokens"))
        }
    }
}
