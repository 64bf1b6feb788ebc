//! The seam between data and training: an endless stream of rows that knows where it is.

use crate::formats::{Format, safetensors};
use crate::input::Input;
use crate::tokenizer::Tokenizer;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::HostTensor;
use indexmap::IndexMap;
use indexmap::map::Entry;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Rows for one batch: sequences of `width` tokens each, or examples of any kind.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Rows {
    /// Sequences or examples.
    pub rows: usize,
    /// Tokens of each sequence; a model predicts all but the first. 0 where there are none.
    pub width: usize,
    /// Token ids, `rows * width`, row after row.
    pub tokens: Vec<i32>,
    /// For each token the number of its document within the row, from 1; 0 where there is no token.
    pub segments: Vec<i32>,
    /// For each token its position within its document's piece, from 0.
    pub positions: Vec<i32>,
    /// Of examples the tensors by the names of the model's inputs, `rows` in their first dimension.
    pub inputs: IndexMap<String, HostTensor>,
}

/// The inputs of a model, as they are in each row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Takes {
    /// Tokens of a sequence, the last label included, where sequences are all that it takes.
    pub width: Option<usize>,
    /// All of its inputs.
    pub inputs: Vec<Input>,
}

impl Takes {
    /// Tokens of a sequence.
    ///
    /// # Errors
    /// When the model takes something else.
    pub fn width(&self) -> Result<usize> {
        self.width.ok_or_else(|| {
            let names: Vec<&str> = self.inputs.iter().map(|input| &*input.name).collect();
            let message =
                format!("text gives sequences of tokens, the model takes {}", halite_support::nearest::list(&names));
            let Format { word, extensions, .. } = safetensors::FORMAT;
            let ending = extensions.join("` or `.");
            let otherwise = format!("where their names end in `.{ending}`, or `format = \"{word}\"` says so");
            Diagnostic::error(codes::MODULE, message)
                .note(format!("files are text or tokens but {otherwise}"))
                .help("give examples as safetensors files, each with a tensor `[examples, ..]` for every input")
        })
    }
}

impl Rows {
    /// No rows yet, with room for so many.
    pub(crate) fn with_capacity(rows: usize, width: usize) -> Self {
        let room = || Vec::with_capacity(rows * width);
        Self { width, tokens: room(), segments: room(), positions: room(), ..Self::default() }
    }

    /// So many rows of padding, which is in no document.
    pub fn padding(rows: usize, width: usize) -> Self {
        let none = || vec![0; rows * width];
        Self { rows, width, tokens: none(), segments: none(), positions: none(), ..Self::default() }
    }

    /// Adds the rows of another, which are of the same kind.
    pub fn append(&mut self, other: Rows) {
        self.rows += other.rows;
        self.tokens.extend(other.tokens);
        self.segments.extend(other.segments);
        self.positions.extend(other.positions);
        for (name, tensor) in other.inputs {
            match self.inputs.entry(name) {
                Entry::Vacant(entry) => _ = entry.insert(tensor),
                Entry::Occupied(mut entry) => entry.get_mut().append(&tensor),
            }
        }
    }
}

/// The position of a data set, which determines the rows that it gives next. Opaque; kept in states as JSON.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Position(pub serde_json::Value);

/// Documents, or parts of them, that were left out for one reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Skipped {
    /// The reason, in a few words.
    pub reason: String,
    /// The number of times.
    pub count: u64,
    /// The first place where it was so, `FILE:LINE` or a file and an offset.
    pub example: String,
}

/// An endless stream of sequences in an order of its own.
pub trait Dataset: Send {
    /// The next so many rows. The stream is the same however it is cut into calls.
    ///
    /// # Errors
    /// When data cannot be read or is not what its configuration says. The next call tries the same again.
    fn next(&mut self, rows: usize) -> Result<Rows>;

    /// The position that it is at now.
    fn position(&self) -> Position;

    /// Goes on from a position.
    ///
    /// # Errors
    /// For a position that is not one of this data set, or when its data cannot be read.
    fn seek(&mut self, position: &Position) -> Result<()>;

    /// The number of times that all of it was given.
    fn epochs(&self) -> u64;

    /// Keys with values that tell this data set from others, for people to compare.
    fn identity(&self) -> BTreeMap<String, String>;

    /// The number of token ids that a model must know.
    fn vocabulary(&self) -> u64;

    /// The warnings to show before it is trained on.
    fn warnings(&self) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// The documents that were left out since it was opened or last sought, by reason.
    fn skipped(&self) -> Vec<Skipped> {
        Vec::new()
    }
}

/// Data that training does not see, on which its loss is measured.
pub struct HeldOut {
    /// The name in metrics; empty for the only one.
    pub name: String,
    /// Its rows, from the first.
    pub data: Box<dyn Dataset>,
}

/// The data of a run.
pub struct Opened {
    /// The data that are trained on.
    pub train: Box<dyn Dataset>,
    /// The data sets that are held out.
    pub held_out: Vec<HeldOut>,
}

impl Opened {
    /// The warnings to show before the first update, each once.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let all = std::iter::once(&self.train).chain(self.held_out.iter().map(|held_out| &held_out.data));
        let mut told = Vec::new();
        for warning in all.flat_map(|data| data.warnings()) {
            if !told.contains(&warning) {
                told.push(warning);
            }
        }
        told
    }
}

/// A description of data, which are opened once the inputs of a model are known.
pub trait Data {
    /// Opens the data as rows of the inputs that a model takes, in an order that follows from the seed.
    ///
    /// # Errors
    /// When there are no such data, or too little of them for one row.
    fn open(&self, takes: &Takes, seed: u64) -> Result<Opened>;

    /// The tokenizer of its texts; `None` where it has no texts, or their tokenizer is not known.
    ///
    /// # Errors
    /// When it cannot be read.
    fn tokenizer(&self) -> Result<Option<Box<dyn Tokenizer>>> {
        Ok(None)
    }
}
