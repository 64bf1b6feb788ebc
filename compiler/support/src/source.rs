//! Source texts and places in them.

use crate::lines::{Lines, Position};
use sha2::{Digest, Sha256};
use std::fmt;

/// The id of a text: the same name and the same text have the same id, in every [`SourceMap`](crate::SourceMap), process and build, and
/// no two others share one.
///
/// It is the first half of a SHA-256 and stands in no output. Ids are ordered, but the order says nothing:
/// [`sort_by_place`](crate::sort_by_place) takes one that does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId([u8; 16]);

impl FileId {
    /// The id of a text under a name.
    pub fn of(name: &str, text: &str) -> Self {
        // The length keeps apart where the name ends and the text begins.
        let length = (name.len() as u64).to_le_bytes();
        let digest: [u8; 32] =
            Sha256::new().chain_update(length).chain_update(name).chain_update(text).finalize().into();
        Self(std::array::from_fn(|index| digest[index]))
    }
}

impl fmt::Debug for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "file{:032x}", u128::from_be_bytes(self.0))
    }
}

/// A range of bytes in one source text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Span {
    /// The text that the bytes are counted in.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end` of `file`.
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { file, start: clamp(start), end: clamp(end) }
    }

    /// The smallest span that covers both; `self` when they are in different files.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A text with its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceFile {
    id: FileId,
    name: String,
    text: String,
    lines: Lines,
}

impl SourceFile {
    /// A text under the name people will see: a path as the user gave it, or `<name>` for built-in texts.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let (name, text) = (name.into(), text.into());
        Self { id: FileId::of(&name, &text), lines: Lines::of(&text), name, text }
    }

    /// The id by which spans name it.
    pub fn id(&self) -> FileId {
        self.id
    }

    /// The name people see.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line and column of a byte; those of the end for bytes beyond it. Takes the same time everywhere.
    pub fn position(&self, byte: usize) -> Position {
        self.lines.position(&self.text, byte)
    }

    /// The first byte of a line, counted from 1, if the text has so many. Takes the same time everywhere.
    pub fn line_start(&self, line: usize) -> Option<usize> {
        self.lines.start(&self.text, line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ids of a build are those of every other.
    #[test]
    fn an_id_depends_on_nothing_but_name_and_text() {
        assert_eq!(format!("{:?}", FileId::of("a", "b")), "filedaf8c173dba8deeb7e7971127b494fa3");
        assert_ne!(FileId::of("ab", "c"), FileId::of("a", "bc"));
    }
}
