//! JSON objects with places.

use halite_support::{Diagnostic, FileId, Result, Span, codes};
use indexmap::IndexMap;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;

/// An object: its values by key, in the order of the text and as parts of it.
#[derive(Debug)]
pub(super) struct Object<'t> {
    file: FileId,
    text: &'t str,
    /// The part of the text that holds the object.
    part: &'t str,
    entries: IndexMap<String, &'t RawValue>,
}

/// A value with its place.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) value: Value,
    pub(super) span: Span,
}

impl<'t> Object<'t> {
    /// Parses a text that is an object.
    ///
    /// # Errors
    /// When the text is not JSON, something else than an object, or states a key twice.
    pub(super) fn parse(file: FileId, text: &'t str) -> Result<Self> {
        let entries = serde_json::from_str(text).map_err(|error| {
            let start = offset(text, error.line(), error.column()).min(last(text));
            Diagnostic::error(codes::HUGGING_FACE, format!("the file is not a JSON object: {}", reason(&error)))
                .at(Span::new(file, start, start + text[start..].chars().next().map_or(0, char::len_utf8)), "here")
                .help("give the `config.json` of a checkpoint")
        })?;
        Self { file, text, part: text, entries: IndexMap::new() }.with(entries)
    }

    /// Takes entries, each key once.
    fn with(mut self, Entries(entries): Entries<'t>) -> Result<Self> {
        for (key, value) in entries {
            if let Some(first) = self.entries.get(&key) {
                let error = Diagnostic::error(codes::HUGGING_FACE, format!("the key `{key}` is stated twice"));
                let error = error.at(self.key_of(value), "again here").also(self.key_of(first), "first here");
                return Err(error.help("remove one of the two"));
            }
            self.entries.insert(key, value);
        }
        Ok(self)
    }

    /// The keys, in order.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// The value of a key.
    ///
    /// # Errors
    /// When it is JSON that stands for no value, as a number beyond all numbers does.
    pub(super) fn get(&self, key: &str) -> Option<Result<Entry>> {
        let raw = self.entries.get(key)?;
        let span = self.place(raw.get());
        Some(serde_json::from_str(raw.get()).map(|value| Entry { value, span }).map_err(|error| {
            let message = format!("the value of `{key}` cannot be read: {}", reason(&error));
            let error = Diagnostic::error(codes::HUGGING_FACE, message).at(span, "not a value");
            error.help(format!("state another value for `{key}`"))
        }))
    }

    /// The value of a key that is an object.
    ///
    /// # Errors
    /// When that one states a key twice.
    pub(super) fn object(&self, key: &str) -> Option<Result<Object<'t>>> {
        let part = self.entries.get(key)?.get();
        let entries = serde_json::from_str(part).ok()?;
        Some(Self { part, entries: IndexMap::new(), ..*self }.with(entries))
    }

    /// The place of the object.
    pub(super) fn span(&self) -> Span {
        self.place(self.part)
    }

    /// The place of a key.
    pub(super) fn key_span(&self, key: &str) -> Option<Span> {
        Some(self.key_of(self.entries.get(key)?))
    }

    /// The place of the key of a value.
    fn key_of(&self, value: &RawValue) -> Span {
        let value = self.place(value.get());
        let before = self.text[..value.start as usize].trim_end().trim_end_matches(':').trim_end();
        let quoted = before.strip_suffix('"').map(|before| before.len()).and_then(|end| opening_quote(before, end));
        quoted.map_or(value, |start| Span::new(self.file, start, before.len()))
    }

    /// The place of a part of the text.
    fn place(&self, part: &str) -> Span {
        let start = part.as_ptr() as usize - self.text.as_ptr() as usize;
        Span::new(self.file, start, start + part.len())
    }
}

/// The start of the string that ends with the quote at `end`: the next quote before it that nothing escapes.
fn opening_quote(text: &str, end: usize) -> Option<usize> {
    let is_escaped = |at: usize| text[..at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
    text[..end].rmatch_indices('"').map(|(at, _)| at).find(|&at| !is_escaped(at))
}

/// The entries of an object in the order of the text, a key as often as it is stated.
struct Entries<'t>(Vec<(String, &'t RawValue)>);

impl<'t> Deserialize<'t> for Entries<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct All;
        impl<'t> Visitor<'t> for All {
            type Value = Entries<'t>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<M: MapAccess<'t>>(self, mut map: M) -> std::result::Result<Self::Value, M::Error> {
                let entries = std::iter::from_fn(|| map.next_entry().transpose());
                entries.collect::<std::result::Result<_, _>>().map(Entries)
            }
        }
        deserializer.deserialize_map(All)
    }
}

/// The byte position of a line and a column, both from 1; columns count bytes.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let at = (before + column.saturating_sub(1)).min(text.len());
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// The byte position of the last character that can be seen.
fn last(text: &str) -> usize {
    text.trim_end().char_indices().next_back().map_or(0, |(at, _)| at)
}

/// The message of serde_json without the place, in lower case.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_lowercase()
}
