//! Conversion of rows of data to the batch of a model.

use crate::amount::Amount;
use crate::micro::MicroBatches;
use crate::scheduled::scheduled;
use halite_bundle::tensors::Tensors;
use halite_bundle::{Buffer, Bundle, Manifest, ModuleEntry, Port, check_ranges};
use halite_data::{Dataset, Input, Rows, Takes};
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use halite_tensor::{DType, HostTensor};
use std::collections::BTreeMap;

/// The input for the number of the document of each token within its row.
const SEGMENTS: &str = "segments";

/// The input for the position of each token within its document.
const POSITIONS: &str = "position_ids";

/// The batch inputs of a bundle, and how rows fill them.
#[derive(Clone, PartialEq, Debug)]
pub struct Feed {
    /// The part of each row that the model takes.
    pub takes: Takes,
    /// The inputs for sequences of tokens, where the model takes nothing else.
    sequences: Option<Sequences>,
    /// Rows of an evaluation.
    pub eval_rows: usize,
    /// Rows of an update.
    pub rows: usize,
    /// The amount of data in an update: tokens that it predicts, padding included, or examples.
    pub amount: Amount,
    /// The number of token ids that the model knows, if it is known.
    pub vocabulary: Option<u64>,
    /// Inputs whose range of integers is known.
    ranges: Vec<Port>,
}

/// Inputs for sequences: tokens of `s32[batch, seq + 1]` and, where the model takes them, `segments` and `position_ids` of that
/// shape.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Sequences {
    tokens: String,
    takes_segments: bool,
    takes_positions: bool,
}

impl Feed {
    /// The feed of a bundle.
    ///
    /// # Errors
    /// When the bundle has no training step, or one without a batch.
    pub fn of(bundle: &Bundle) -> Result<Self> {
        scheduled(bundle)?;
        Self::of_batch(bundle)
    }

    /// The feed of a bundle which need not have a training step.
    ///
    /// # Errors
    /// When it takes no batch, or something whose first dimension is not that of the batch.
    pub fn of_batch(bundle: &Bundle) -> Result<Self> {
        Self::of_inputs(bundle, |_| true)
    }

    /// The feed of modules, which may read less than all that the host feeds.
    ///
    /// # Errors
    /// As [`of_batch`](Self::of_batch).
    pub(super) fn of_modules(bundle: &Bundle, modules: &[&ModuleEntry]) -> Result<Self> {
        Self::of_inputs(bundle, |name| modules.iter().flat_map(|module| &module.inputs).any(|input| input.name == name))
    }

    fn of_inputs(bundle: &Bundle, is_read: impl Fn(&str) -> bool) -> Result<Self> {
        let manifest = &bundle.manifest;
        let is_fed = |buffer: &&Buffer| buffer.is_batch() && buffer.content().is_none() && is_read(&buffer.name);
        let fed: Vec<&Buffer> = manifest.buffers.iter().filter(is_fed).collect();
        let rows = fed.first().and_then(|first| first.shape.first().copied());
        let rows = rows.ok_or_else(|| not_fed("the model takes no batch of examples".to_owned()))?;
        if let Some(other) = fed.iter().find(|buffer| buffer.shape.first() != Some(&rows)) {
            return Err(not_fed(format!(
                "the first size of the batch `{}` is not that of `{}`, which is {rows}",
                other.name, fed[0].name
            )));
        }
        let input = |buffer: &&Buffer| Input {
            name: buffer.name.clone(),
            dtype: buffer.dtype,
            shape: buffer.shape[1..].to_vec(),
        };
        let sequences = Sequences::of(&fed);
        let width = sequences.as_ref().map(|_| fed[0].shape[1]);
        let all = rows * MicroBatches::of(manifest)?.of_update;
        Ok(Self {
            takes: Takes { width, inputs: fed.iter().map(input).collect() },
            eval_rows: rows,
            rows: all,
            amount: width
                .map_or(Amount::Examples(all as u64), |width| Amount::Tokens((all * width.saturating_sub(1)) as u64)),
            vocabulary: sequences.as_ref().and_then(|sequences| known_tokens(bundle, &sequences.tokens)),
            sequences,
            ranges: ranges(manifest),
        })
    }

    /// Whether the model takes segments, and so keeps attention within documents.
    pub fn takes_segments(&self) -> bool {
        self.sequences.as_ref().is_some_and(|sequences| sequences.takes_segments)
    }

    /// Checks that the model knows the tokens of a data set.
    ///
    /// # Errors
    /// When it knows fewer.
    pub fn check(&self, data: &dyn Dataset) -> Result<()> {
        self.check_ids(data.vocabulary())
    }

    /// Checks that the model knows so many token ids.
    ///
    /// # Errors
    /// When it knows fewer.
    pub(super) fn check_ids(&self, needed: u64) -> Result<()> {
        match self.vocabulary {
            Some(known) if known < needed => {
                let message = format!("the model knows {known} token ids, the tokenizer of the data has {needed}");
                let error = Diagnostic::error(codes::VOCABULARY, message).key("data.tokenizer");
                Err(error.help(format!(
                    "make the model know {needed} ids, as by `--set vocab={needed}`, or name a tokenizer with fewer ids in `data.tokenizer`"
                )))
            }
            _ => Ok(()),
        }
    }

    /// Rows as the model takes them, by the names of its inputs.
    ///
    /// # Errors
    /// When examples hold integers that the model does not know, or rows are not of what it takes.
    pub fn batch(&self, rows: Rows) -> std::result::Result<Tensors, Diagnostics> {
        if !rows.inputs.is_empty() {
            check_ranges(&self.ranges, &rows.inputs)?;
            return Ok(rows.inputs);
        }
        let sequences = self.sequences.as_ref();
        let sequences = sequences.ok_or_else(|| Diagnostic::bug("sequences for a model that takes none"))?;
        Ok(sequences.batch(&rows))
    }

    /// Calls `each` with the batches of an evaluation that cover data once, if they are at most `most`; there is at least one. The last
    /// is filled with padding where the model can tell padding from tokens. Otherwise only whole batches are measured, and a warning on
    /// the rest is returned.
    ///
    /// # Errors
    /// When the data cannot be read; what `each` returns.
    pub(super) fn once(
        &self,
        data: &mut dyn Dataset,
        most: usize,
        mut each: impl FnMut(Tensors) -> std::result::Result<(), Diagnostics>,
    ) -> std::result::Result<Option<Diagnostic>, Diagnostics> {
        let mut rest = None;
        for number in 0..most {
            let mut rows = data.next(1)?;
            while rows.rows < self.eval_rows && data.epochs() == 0 {
                rows.append(data.next(1)?);
            }
            let missing = self.eval_rows - rows.rows;
            if missing > 0 && self.takes_segments() {
                rows.append(Rows::padding(missing, rows.width));
            } else if missing > 0 {
                rest = Some(self.rest(&rows, number));
                // What is given twice would count twice; but one batch there is, filled from the start.
                if number == 0 {
                    rows.append(data.next(missing)?);
                }
            }
            if rows.rows == self.eval_rows {
                each(self.batch(rows)?)?;
            }
            if data.epochs() > 0 {
                break;
            }
        }
        Ok(rest)
    }

    /// A warning about rows that are too few for a batch, after so many whole batches.
    fn rest(&self, rows: &Rows, batches: usize) -> Diagnostic {
        let batch = self.eval_rows;
        let (ending, is) = if rows.rows == 1 { ("", "is") } else { ("s", "are") };
        let what = match rows.width {
            0 => format!("{} held-out example{ending}", rows.rows),
            width => format!("{} held-out row{ending} of {} labels", rows.rows, width - 1),
        };
        let message = match batches {
            0 => format!("the {what} {is} repeated until there are {batch}, a whole batch: some count twice"),
            _ => format!("the last {what} {is} left out: they are less than a batch of {batch}"),
        };
        let all = batches * batch + rows.rows;
        let divides = (1..=batch).rev().find(|divisor| all.is_multiple_of(*divisor)).unwrap_or(1);
        let each = format!("set `batch = {divides}`, which divides the {all} there are, to count each of them once");
        let warning = Diagnostic::warning(codes::MEASURED, message);
        match rows.width {
            0 => warning.help(each),
            _ => warning.help(format!("{each}; or `packed = true`, where the last batch is padded")),
        }
    }
}

impl Sequences {
    /// The inputs for sequences, if the buffers that the host feeds are exactly these.
    fn of(fed: &[&Buffer]) -> Option<Self> {
        let (more, tokens): (Vec<&Buffer>, Vec<&Buffer>) =
            fed.iter().partition(|buffer| [SEGMENTS, POSITIONS].contains(&buffer.name.as_str()));
        let [tokens] = tokens[..] else { return None };
        let is_like = |buffer: &&Buffer| buffer.shape == tokens.shape && buffer.dtype == DType::S32;
        if tokens.shape.len() != 2 || tokens.dtype != DType::S32 || !more.iter().all(is_like) {
            return None;
        }
        let takes = |name: &str| more.iter().any(|buffer| buffer.name == name);
        let (takes_segments, takes_positions) = (takes(SEGMENTS), takes(POSITIONS));
        Some(Self { tokens: tokens.name.clone(), takes_segments, takes_positions })
    }

    fn batch(&self, rows: &Rows) -> Tensors {
        let tensor = |values: &[i32]| {
            HostTensor::from_ints(DType::S32, [rows.rows, rows.width], values.iter().map(|&value| i128::from(value)))
        };
        let more =
            [(SEGMENTS, self.takes_segments, &rows.segments), (POSITIONS, self.takes_positions, &rows.positions)];
        let more = more.into_iter().filter(|(_, is_taken, _)| *is_taken);
        let more = more.map(|(name, _, values)| (name.to_owned(), tensor(values)));
        std::iter::once((self.tokens.clone(), tensor(&rows.tokens))).chain(more).collect()
    }
}

fn not_fed(message: String) -> Diagnostic {
    Diagnostic::error(codes::MODULE, message).help("run its modules with `halite run`")
}

/// The inputs with ranges, each once, in batches of any number of rows.
fn ranges(manifest: &Manifest) -> Vec<Port> {
    let ports = manifest.modules.iter().flat_map(|module| &module.inputs).filter(|port| !port.ranges.is_empty());
    let mut named: BTreeMap<&str, Port> = BTreeMap::new();
    for port in ports {
        let mut own = port.clone();
        for [_, to] in own.ranges.iter_mut().filter_map(|range| range.part.first_mut()) {
            if port.shape.first() == Some(to) {
                *to = usize::MAX;
            }
        }
        named.entry(&port.name).or_insert(own);
    }
    named.into_values().collect()
}

/// The number of token ids that all modules know. Where the model does not state it, its configuration may.
fn known_tokens(bundle: &Bundle, batch: &str) -> Option<u64> {
    let manifest = &bundle.manifest;
    let ports = manifest.modules.iter().flat_map(|module| &module.inputs).filter(|port| port.name == batch);
    let ranges = ports.flat_map(|port| &port.ranges).map(|range| range.below);
    ranges.min().or_else(|| manifest.model.config.get("vocab")?.size().map(|vocab| vocab as u64))
}
