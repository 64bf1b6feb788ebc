//! Sources of the weights of a model.

use super::{Checkpoint, RunFiles};
use halite_bundle::tensors::{self, Tensors};
use halite_bundle::{Bundle, check_state, init};
use halite_recipe::DataTable;
use halite_support::{Diagnostic, Diagnostics, codes};
use std::path::PathBuf;

/// The source of the weights that a model is evaluated with, or generates text with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WeightsAt {
    /// The state of a run: a file, the index of parts, a checkpoint, or the folder of a run, of which it is the newest one.
    State(PathBuf),
    /// Weights from elsewhere, as [`state_from_checkpoint`](init::state_from_checkpoint) reads them.
    Checkpoint(PathBuf),
}

impl WeightsAt {
    /// The weights that are named, before a state that is named.
    ///
    /// # Errors
    /// When neither is.
    pub fn of(state: Option<PathBuf>, weights: Option<PathBuf>) -> Result<Self, Diagnostic> {
        let of_state = || state.map(Self::State);
        weights.map(Self::Checkpoint).or_else(of_state).ok_or_else(|| {
            let error = Diagnostic::error(codes::USAGE, "no weights are given");
            error.help("give the folder of a run as INPUT or with `--state`, or a checkpoint with `--weights`")
        })
    }

    /// The data of the run whose state it is, if it is one and names any; of a checkpoint of Transformers with a tokenizer, that alone.
    ///
    /// # Errors
    /// When the recipe of the run cannot be read.
    pub fn data(&self) -> Result<Option<DataTable>, Diagnostic> {
        match self {
            Self::State(path) => RunFiles::at(path).map_or(Ok(None), |run| run.data()),
            Self::Checkpoint(path) => {
                let tokenizer = path.join("tokenizer.json");
                let data = || DataTable { tokenizer: tokenizer.display().to_string(), ..DataTable::of(Vec::new()) };
                Ok(tokenizer.is_file().then(data))
            }
        }
    }

    /// Reads the weights as a state of the model of a bundle.
    ///
    /// # Errors
    /// When a file cannot be read, or is of another model.
    pub fn read(&self, bundle: &Bundle) -> Result<Tensors, Diagnostics> {
        match self {
            Self::Checkpoint(path) => init::state_from_checkpoint(&bundle.manifest, path),
            Self::State(path) => {
                let tensors = tensors::read(&Checkpoint::state_at(path)?.0)?;
                check_state(&bundle.manifest, &tensors)?;
                Ok(tensors)
            }
        }
    }
}
