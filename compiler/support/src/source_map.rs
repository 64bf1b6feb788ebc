//! The texts that spans point into.

use crate::lines::Position;
use crate::source::{FileId, SourceFile, Span};
use crate::{Diagnostic, Result, codes};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Holds the texts that spans point into. An id that a map does not hold is unknown to it, never another text.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<Arc<SourceFile>>,
    index: BTreeMap<FileId, usize>,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a text under the name people will see. One that is there already is not registered again.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.insert(Arc::new(SourceFile::new(name, text)))
    }

    /// Registers a text that others hold too, unless it is there already.
    pub fn insert(&mut self, file: Arc<SourceFile>) -> FileId {
        let id = file.id();
        self.index.entry(id).or_insert_with(|| {
            self.files.push(file);
            self.files.len() - 1
        });
        id
    }

    /// The text of an id, if the map holds it.
    pub fn file(&self, id: FileId) -> Option<&Arc<SourceFile>> {
        self.files.get(*self.index.get(&id)?)
    }

    /// The file of this id, which whoever asks needs.
    ///
    /// # Errors
    /// When it is not among these.
    pub fn known(&self, id: FileId) -> Result<&SourceFile> {
        self.file(id).map(|file| &**file).ok_or_else(|| {
            Diagnostic::error(codes::INPUT, "the text is not among the sources at hand")
                .help("add it to the `sources` of the session that reads it")
        })
    }

    /// All texts in the order of their registration.
    pub fn files(&self) -> impl Iterator<Item = &Arc<SourceFile>> {
        self.files.iter()
    }

    /// The text a span covers; empty when the span lies outside its file, or the file is unknown.
    pub fn snippet(&self, span: Span) -> &str {
        self.file(span.file).and_then(|file| file.text().get(span.start as usize..span.end as usize)).unwrap_or("")
    }

    /// Line and column of a span's first byte; `None` when its file is unknown.
    pub fn position(&self, span: Span) -> Option<Position> {
        Some(self.file(span.file)?.position(span.start as usize))
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
        assert_eq!(at(0), Some(Position { line: 1, column: 1 }));
        assert_eq!(at(9), Some(Position { line: 2, column: 5 }));
        assert_eq!(map.snippet(Span::new(file, 0, 3)), "one");
    }

    #[test]
    fn positions_in_long_lines_are_those_of_a_count() {
        let text = "aö€\n".to_owned() + &"xö€𝄞".repeat(300) + "\n" + &"ö".repeat(1024);
        let mut map = SourceMap::new();
        let file = map.add("a", text.as_str());
        for at in (0..=text.len()).filter(|&at| text.is_char_boundary(at)) {
            let before = &text[..at];
            let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
            let column = before[line_start..].chars().count() + 1;
            let expected = Position { line: before.matches('\n').count() + 1, column };
            assert_eq!(map.position(Span::new(file, at, at)), Some(expected), "{at}");
        }
    }

    #[test]
    fn an_id_is_one_text_in_every_map() {
        let (mut map, mut other) = (SourceMap::new(), SourceMap::new());
        let ids = [("a", "1"), ("a", "2"), ("b", "1")].map(|(name, text)| map.add(name, text));
        assert!(ids[0] != ids[1] && ids[0] != ids[2] && ids[1] != ids[2]);
        assert_eq!(map.add("a", "2"), ids[1]);
        assert_eq!(
            map.files().map(|file| (file.name(), file.text())).collect::<Vec<_>>(),
            [("a", "1"), ("a", "2"), ("b", "1")]
        );
        assert_eq!(other.add("b", "1"), ids[2]);
        assert_eq!(other.file(ids[2]), map.file(ids[2]));
    }

    #[test]
    fn an_unknown_id_is_no_text() {
        let mut map = SourceMap::new();
        map.add("a", "text");
        let span = Span::new(FileId::of("b", "text"), 0, 4);
        assert_eq!((map.file(span.file), map.snippet(span), map.position(span)), (None, "", None));
    }
}
