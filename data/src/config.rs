//! The configuration of data, apart from its form in recipes.

use crate::documents::Documents;
use crate::formats::{Format, Holds, OpenExamples};
use halite_support::{Diagnostic, Result, codes};
use serde::Serialize;

/// The data that a run trains on, and the way they are cut into sequences.
#[derive(Clone, PartialEq, Debug)]
pub struct DataConfig {
    /// `bytes`, or the path of a `tokenizer.json`.
    pub tokenizer: String,
    /// The token before each document: its text or id. None by default.
    pub bos: Option<String>,
    /// The token after each document: its text or id, or `none`. By default the one that the `tokenizer_config.json` beside the
    /// tokenizer states, else the only special token that is known to end documents.
    pub eos: Option<String>,
    /// The way documents become rows.
    pub pack: Packing,
    /// Whether files and rows are shuffled, by the seed.
    pub shuffle: bool,
    /// About how many tokens are held at once and packed and shuffled with one another; by default some 4 million, and
    /// at least 64 rows.
    pub buffer: Option<usize>,
    /// Threads that tokenize; by default one for each processor, up to 4. The sequences do not depend on it.
    pub threads: Option<usize>,
    /// The handling of data that cannot be read.
    pub on_error: OnError,
    /// The sources of the documents; at least one.
    pub sources: Vec<SourceConfig>,
}

/// Files of one kind, and their share in a mixture.
#[derive(Clone, PartialEq, Debug)]
pub struct SourceConfig {
    /// The name in messages and positions.
    pub name: String,
    /// Paths or patterns such as `text/*.jsonl.zst`.
    pub files: Vec<String>,
    /// The format of the files; by default that of the ending of their names.
    pub format: Option<Format>,
    /// The key of JSON lines, or the column of tables, that holds the text.
    pub column: String,
    /// The part of a text file that is one document.
    pub documents: Documents,
    /// A share of each file, such as `0..0.9`.
    pub part: Option<String>,
    /// Its share of the rows, beside those of the others.
    pub weight: f64,
}

impl SourceConfig {
    /// The kind of contents of each of its files, by its format or else by their names; `None` where no name tells.
    fn holds(&self) -> Vec<Option<Holds>> {
        let formats = match self.format {
            Some(format) => vec![Some(format)],
            None => self.files.iter().map(|file| Format::of(file)).collect(),
        };
        formats.into_iter().map(|format| Some(format?.holds)).collect()
    }

    /// Whether it holds examples and no documents.
    pub fn has_examples(&self) -> bool {
        self.opens_examples().is_some()
    }

    /// The function that opens its files, where they hold examples.
    pub(crate) fn opens_examples(&self) -> Option<OpenExamples> {
        self.holds().into_iter().find_map(|holds| match holds {
            Some(Holds::Examples { open }) => Some(open),
            _ => None,
        })
    }

    /// Whether it holds tokens that something made before, and no text.
    pub fn has_tokens(&self) -> bool {
        self.holds().iter().any(|holds| matches!(holds, Some(Holds::Tokens { .. } | Holds::Ids(_))))
    }

    /// Whether its files mark by themselves where documents end.
    pub(crate) fn marks_ends(&self) -> bool {
        self.holds().iter().all(|holds| matches!(holds, Some(Holds::Tokens { marks_ends: true, .. })))
    }
}

impl DataConfig {
    /// Whether its sources hold examples and no documents.
    ///
    /// # Errors
    /// When some do and others do not.
    pub fn has_examples(&self) -> Result<bool> {
        let (examples, documents): (Vec<_>, Vec<_>) = self.sources.iter().partition(|source| source.has_examples());
        let ([example, ..], [document, ..]) = (&examples[..], &documents[..]) else { return Ok(documents.is_empty()) };
        let message = format!("source `{}` has examples, source `{}` has documents", example.name, document.name);
        let error = Diagnostic::error(codes::RECIPE_RANGE, message).key("data.sources");
        Err(error.help("train on one kind, or make the documents examples, each with all inputs of the model"))
    }
}

/// The way documents become rows.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Packing {
    /// One document after another, cut where a row is full. Nothing is padded.
    InOrder,
    /// Documents whole where they are no longer than a row, put together so that rows are nearly full.
    #[default]
    BestFit,
}

/// The handling of data that cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// It is an error.
    #[default]
    Stop,
    /// It is left out and counted.
    Skip,
}
