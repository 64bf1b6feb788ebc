//! Training data: its files, the tokenizer, and how documents become sequences.

use crate::schema::{Field, Form, Key, Keys, Kind, Words};
use crate::{table, words};
use serde::{Deserialize, Serialize};
use std::fmt;

table! {
    /// Training data. Paths are relative to the folder in which training is started.
    #[derive(Clone, PartialEq, Debug)]
    pub struct DataTable {
        /// `bytes`, or the path of a `tokenizer.json` of Hugging Face.
        pub tokenizer: String = "bytes".to_owned(),
        /// The token before each document: its text or id; none where it is left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub bos: Option<String> = None,
        /// The token after each document: its text or id, or `none`. Left out, the `eos_token` of the `tokenizer_config.json` beside the
        /// tokenizer, else the only special token that is known to end documents, such as `<|endoftext|>`; `bytes` has none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub eos: Option<String> = None,
        /// How documents become sequences. Left out, `best_fit` for models that hold attention inside documents, else `in_order`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub pack: Option<Pack> = None,
        /// Whether files and sequences come in an order that follows from the seed, rather than in their own.
        pub shuffle: bool = true,
        /// Approximate number of tokens in the shuffle and packing buffer.
        pub buffer: u32 as Kind::DEGREE = 4_194_304,
        /// Threads that tokenize; 0 for as many as there are processors, and 4 at most.
        pub threads: u32 = 0,
        /// How to handle documents that cannot be read.
        pub on_error: OnError = OnError::default(),
        /// Training sources.
        pub sources: Vec<DataSource>,
        /// Data sets that are held out, on each of which the loss is measured.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub held_out: Vec<DataSource> = Vec::new(),
    }
}

impl DataTable {
    /// These sources; all else has its default.
    pub fn of(sources: Vec<DataSource>) -> Self {
        let stated = toml::Table::from_iter([("sources".to_owned(), toml::Value::Array(Vec::new()))]);
        let defaults: Self = stated.try_into().expect("all other keys have defaults");
        Self { sources, ..defaults }
    }

    /// Files of a format, of each of which the last `held_out`, a share from 0 up to but not 1, is a data set that is held out; all
    /// else has its default.
    pub fn of_files(files: &[String], format: &str, held_out: f64) -> Self {
        let source = |part: Option<Part>| DataSource {
            files: files.to_vec(),
            format: Some(format.to_owned()),
            part,
            ..DataSource::of(String::new())
        };
        if held_out == 0.0 {
            return Self::of(vec![source(None)]);
        }
        let kept = 1.0 - held_out;
        let part = |from, to| Some(Part(format!("{from}..{to}")));
        Self { held_out: vec![source(part(kept, 1.0))], ..Self::of(vec![source(part(0.0, kept))]) }
    }

    /// Returns the schema kind of `[data]`, given the formats that its sources may name.
    pub(crate) fn kind(formats: Words) -> Kind {
        let Words { words, meanings } = formats;
        let of_source = DataSource::KEYS.iter().map(|key| match key.name {
            "format" => Key { kind: Kind::Word(words), meanings, ..key.clone() },
            _ => key.clone(),
        });
        let of_source: Keys = of_source.collect();
        let own = Self::KEYS.iter().map(|key| match key.kind {
            Kind::Tables(_) => Key { kind: Kind::Tables(of_source.clone()), ..key.clone() },
            _ => key.clone(),
        });
        Kind::Table(own.collect())
    }
}

impl DataSource {
    /// A file, or files that a pattern matches; all else has its default.
    pub fn of(file: impl Into<String>) -> Self {
        let stated = toml::Table::from_iter([("files".to_owned(), toml::Value::Array(vec![file.into().into()]))]);
        stated.try_into().expect("all other keys have defaults")
    }
}

table! {
    /// Files of one kind.
    #[derive(Clone, PartialEq, Debug)]
    pub struct DataSource {
        /// Name in reports and metrics.
        #[serde(skip_serializing_if = "String::is_empty")]
        pub name: String = String::new(),
        /// Paths and patterns such as `corpus/*.jsonl.zst`.
        pub files: Vec<String>,
        /// How the files are written. Left out, their names tell.
        // The known formats are those of `Extension::formats`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub format: Option<String> = None,
        /// The member of a JSON line, or column of a table, that holds the text.
        pub column: String = "text".to_owned(),
        /// How a text file is split into documents.
        pub documents: Documents = Documents::default(),
        /// The share of each file that is taken, such as `0..0.9`; all where it is left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub part: Option<Part> = None,
        /// Its share among the sources, relative to theirs.
        pub weight: f64 as Kind::POSITIVE = 1.0,
    }
}

words! {
    /// How documents become sequences.
    pub enum Pack {
        /// One after another, cut where a sequence is full.
        InOrder = "in_order",
        /// Whole, each where it fills a sequence best.
        BestFit = "best_fit",
    }
}

words! {
    /// The handling of documents that cannot be read.
    #[derive(Default)]
    pub enum OnError {
        /// Training ends.
        #[default]
        Stop = "stop",
        /// They are left out, counted and reported.
        Skip = "skip",
    }
}

words! {
    /// The part of a text file that is one document.
    #[derive(Default)]
    pub enum Documents {
        /// The whole file.
        #[default]
        File = "file",
        /// A line.
        Line = "line",
        /// The text between blank lines.
        Blank = "blank",
    }
}

/// A share of files, from one number to another, such as `0..0.9`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Part(String);

impl Part {
    /// Parses the two ends of a share, both from 0 to 1 and the first below the second; `None` where the text is no such share.
    pub fn parse(text: &str) -> Option<(f64, f64)> {
        let (from, to) = text.split_once("..")?;
        let (from, to) = (from.trim().parse::<f64>().ok()?, to.trim().parse::<f64>().ok()?);
        (0.0 <= from && from < to && to <= 1.0).then_some((from, to))
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Field for Part {
    const KIND: Kind =
        Kind::Form(Form { expected: "a share such as \"0..0.9\"", is_one: |text| Part::parse(text).is_some() });
}
