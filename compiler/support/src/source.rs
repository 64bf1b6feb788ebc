//! Source texts and positions in them.

use crate::entity;

entity!(
    /// A text registered in a [`SourceMap`].
    FileId,
    "file"
);

/// A range of bytes in one source text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Span {
    /// The text.
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

/// A line and column, both counted from 1; columns count characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// One registered text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name people see: a path as the user gave it, or `<name>` for built-in texts.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// Owns the texts that spans point into.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a text under the name people will see.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.files.push(SourceFile { name: name.into(), text: text.into() });
        FileId::new(self.files.len() - 1)
    }

    /// The file behind a handle, if it is one of this map's.
    pub fn get(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.index())
    }

    /// The file behind a handle of this map.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.index()]
    }

    /// The text a span covers; empty when the span lies outside its file.
    pub fn snippet(&self, span: Span) -> &str {
        self.file(span.file).text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Line and column of a span's first byte.
    pub fn position(&self, span: Span) -> Position {
        let text = &self.file(span.file).text;
        let mut start = (span.start as usize).min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Position { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let mut map = SourceMap::new();
        let file = map.add("a.hal", "one\ntwö x\n");
        let at = |start| map.position(Span::new(file, start, start + 1));
        assert_eq!(at(0), Position { line: 1, column: 1 });
        assert_eq!(at(9), Position { line: 2, column: 5 });
        assert_eq!(map.snippet(Span::new(file, 0, 3)), "one");
    }
}
