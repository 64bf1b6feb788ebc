//! How sequences become the batch of a model.

use crate::micro::MicroBatches;
use crate::scheduled::scheduled;
use halite_bundle::tensors::Tensors;
use halite_bundle::{Buffer, Bundle};
use halite_data::{Dataset, Rows};
use halite_recipe::ConfigValue;
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use halite_tensor::{DType, HostTensor};

/// The input for the number of the document of each token within its row.
const SEGMENTS: &str = "segments";

/// The input for the position of each token within its document.
const POSITIONS: &str = "position_ids";

/// The batch inputs of a bundle that sequences fill: tokens of `s32[batch, seq + 1]` and, where the model takes them, `segments` and
/// `position_ids` of that shape.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Feed {
    tokens: String,
    /// Whether the model holds attention inside documents.
    pub takes_segments: bool,
    takes_positions: bool,
    /// Sequences of an evaluation.
    pub eval_rows: usize,
    /// Sequences of an update.
    pub rows: usize,
    /// Tokens of one sequence, the last label included.
    pub width: usize,
    /// How many token ids the model knows, if that is known.
    pub vocabulary: Option<u64>,
}

impl Feed {
    /// That of a bundle.
    ///
    /// # Errors
    /// When the bundle has no training step, or one that takes something else than sequences of tokens.
    pub fn of(bundle: &Bundle) -> Result<Self> {
        scheduled(bundle)?;
        Self::of_batch(bundle)
    }

    /// That of a bundle which need not have a training step.
    ///
    /// # Errors
    /// When it takes something else than sequences of tokens.
    pub fn of_batch(bundle: &Bundle) -> Result<Self> {
        let is_fed = |buffer: &&Buffer| buffer.is_batch() && buffer.content().is_none();
        let (more, tokens): (Vec<&Buffer>, Vec<&Buffer>) = bundle
            .manifest
            .buffers
            .iter()
            .filter(is_fed)
            .partition(|buffer| [SEGMENTS, POSITIONS].contains(&buffer.name.as_str()));
        let [tokens] = tokens[..] else {
            return Err(no_sequences(format!(
                "the model takes {} batch inputs, training on text feeds one",
                tokens.len()
            )));
        };
        let ([rows, width], DType::S32) = (&tokens.shape[..], tokens.dtype) else {
            return Err(no_sequences(format!("the batch `{}` is not `s32[batch, seq + 1]`", tokens.name)));
        };
        if let Some(other) = more.iter().find(|buffer| buffer.shape != tokens.shape || buffer.dtype != DType::S32) {
            return Err(no_sequences(format!("the batch `{}` is not of the type of `{}`", other.name, tokens.name)));
        }
        let takes = |name: &str| more.iter().any(|buffer| buffer.name == name);
        Ok(Self {
            tokens: tokens.name.clone(),
            takes_segments: takes(SEGMENTS),
            takes_positions: takes(POSITIONS),
            eval_rows: *rows,
            rows: rows * MicroBatches::of(&bundle.manifest)?.of_update,
            width: *width,
            vocabulary: known_tokens(bundle, &tokens.name),
        })
    }

    /// Tokens that an update predicts, padding included.
    pub fn tokens(&self) -> u64 {
        (self.rows * (self.width - 1)) as u64
    }

    /// Checks that the model knows the tokens of a data set.
    ///
    /// # Errors
    /// When it knows fewer.
    pub fn check(&self, data: &dyn Dataset) -> Result<()> {
        let needed = data.vocabulary();
        match self.vocabulary {
            Some(known) if known < needed => {
                let message = format!("the model knows {known} tokens, the data have {needed}");
                Err(Diagnostic::error(codes::TEXT, message).help(format!("compile with `--set vocab={needed}`")))
            }
            _ => Ok(()),
        }
    }

    /// Sequences as the model takes them, by the names of its inputs.
    pub fn batch(&self, rows: &Rows) -> Tensors {
        let tensor = |values: &[i32]| {
            HostTensor::from_ints(DType::S32, [rows.rows, rows.width], values.iter().map(|&value| i128::from(value)))
        };
        let more =
            [(SEGMENTS, self.takes_segments, &rows.segments), (POSITIONS, self.takes_positions, &rows.positions)];
        let more = more.into_iter().filter(|(_, is_taken, _)| *is_taken);
        let more = more.map(|(name, _, values)| (name.to_owned(), tensor(values)));
        std::iter::once((self.tokens.clone(), tensor(&rows.tokens))).chain(more).collect()
    }

    /// Hands on the batches of an evaluation that cover data once, where these are no more than `most`; at least one.
    ///
    /// # Errors
    /// When the data cannot be read; what `each` returns.
    pub(super) fn once(
        &self,
        data: &mut dyn Dataset,
        most: usize,
        mut each: impl FnMut(Tensors) -> std::result::Result<(), Diagnostics>,
    ) -> std::result::Result<(), Diagnostics> {
        for number in 0..most {
            let mut rows = data.next(1)?;
            while rows.rows < self.eval_rows && data.epochs() == 0 {
                rows.append(&data.next(1)?);
            }
            // What is given twice would count twice; but one batch there is, filled from the start.
            if rows.rows < self.eval_rows && number == 0 {
                rows.append(&data.next(self.eval_rows - rows.rows)?);
            }
            if rows.rows == self.eval_rows {
                each(self.batch(&rows))?;
            }
            if data.epochs() > 0 {
                break;
            }
        }
        Ok(())
    }
}

fn no_sequences(message: String) -> Diagnostic {
    Diagnostic::error(codes::MODULE, message).help("run its modules with `halite run`")
}

/// How many tokens all modules know. Where the model does not tell, its configuration may.
fn known_tokens(bundle: &Bundle, batch: &str) -> Option<u64> {
    let manifest = &bundle.manifest;
    let ports = manifest.modules.iter().flat_map(|module| &module.inputs).filter(|port| port.name == batch);
    let ranges = ports.flat_map(|port| &port.ranges).map(|range| range.below);
    let stated = match manifest.model.config.get("vocab") {
        Some(ConfigValue::Int(vocab)) => u64::try_from(*vocab).ok(),
        _ => None,
    };
    ranges.min().or(stated)
}
