//! The formats of files, each in a file of its own: its word, its contents, and the function that opens a file.

mod jsonl;
pub(crate) mod megatron;
mod npy;
pub(crate) mod parquet;
pub(crate) mod raw;
mod request;
pub(crate) mod safetensors;
pub(crate) mod text;
pub(crate) mod u16;
pub(crate) mod u32;

pub(crate) use request::Request;

use crate::example_file::ExampleFile;
use crate::files::Origin;
use crate::input::Input;
use crate::shard::Shard;
use halite_support::nearest::{list, suggestion};
use halite_support::{Diagnostic, Result, codes};
use raw::Width;
use std::sync::LazyLock;

/// The formats, in the order in which they are listed.
const FORMATS: [Format; 8] = [
    text::FORMAT,
    jsonl::FORMAT,
    npy::FORMAT,
    megatron::FORMAT,
    u16::FORMAT,
    u32::FORMAT,
    parquet::FORMAT,
    safetensors::FORMAT,
];

/// A format of files.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Its word in recipes.
    pub word: &'static str,
    /// A sentence on it.
    pub about: &'static str,
    /// The endings of the names of its files, behind the last dot.
    pub(crate) extensions: &'static [&'static str],
    pub(crate) holds: Holds,
}

/// The contents of a file, and the function that opens it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Holds {
    /// Documents of text.
    Text { open: OpenDocuments, may_be_compressed: bool },
    /// Documents of tokens; `marks_ends` where the file says by itself where they end.
    Tokens { open: OpenDocuments, marks_ends: bool },
    /// Token ids alone, of this width.
    Ids(Width),
    /// Examples.
    Examples { open: OpenExamples },
}

/// Opens a file of documents.
pub(crate) type OpenDocuments = fn(&Request<'_>) -> Result<Box<dyn Shard>>;

/// Opens a file of examples that hold these inputs.
pub(crate) type OpenExamples = fn(&Origin, &[Input]) -> Result<Box<dyn ExampleFile>>;

impl Format {
    /// The format of this word.
    ///
    /// # Errors
    /// When there is none.
    pub fn named(word: &str) -> Result<Self> {
        FORMATS.into_iter().find(|format| format.word == word).ok_or_else(|| {
            let message = format!("there is no format `{word}`, expected one of {}", list(words()));
            Diagnostic::error(codes::RECIPE_RANGE, message).help(suggestion(word, words()))
        })
    }

    /// The format that the ending of a name stands for.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        FORMATS.into_iter().find(|format| format.extensions.contains(&extension))
    }
}

/// Two formats are the same if their words are.
impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.word == other.word
    }
}

impl Eq for Format {}

/// The words of all formats.
pub fn words() -> &'static [&'static str] {
    static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| FORMATS.iter().map(|format| format.word).collect());
    &WORDS
}

/// A sentence on each format, in the order of their words.
pub fn meanings() -> &'static [&'static str] {
    static MEANINGS: LazyLock<Vec<&str>> = LazyLock::new(|| FORMATS.iter().map(|format| format.about).collect());
    &MEANINGS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_found_by_their_words_and_by_endings_of_names() {
        for format in FORMATS {
            assert_eq!(Format::named(format.word), Ok(format));
            let of_names = format.extensions.iter().map(|extension| Format::of(&format!("x.{extension}")));
            assert!(of_names.into_iter().all(|found| found == Some(format)), "{format:?}");
        }
        assert_eq!(Format::of("x.csv"), None);
        let error = Format::named("josnl").unwrap_err();
        assert!(
            error.message().starts_with("there is no format `josnl`, expected one of `text`, `jsonl`, "),
            "{error}"
        );
        assert_eq!(error.help_text(), Some("did you mean `jsonl`?"));
    }
}
