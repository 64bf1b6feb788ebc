//! What a model has learned: the state of a run, or weights from elsewhere.

use crate::context::{Context, Ready, Result};
use clap::Args;
use halite_bundle::tensors::{self, Tensors};
use halite_bundle::{Bundle, check_state, init};
use halite_data::Tokenizer;
use halite_recipe::DataTable;
use halite_support::{Diagnostic, codes};
use halite_train::{Checkpoint, RunFiles};
use std::path::{Path, PathBuf};

/// The options that say where it is.
#[derive(Args, Debug)]
#[group(multiple = false)]
pub(super) struct Learned {
    /// The state of a run of this recipe or bundle: a file, a checkpoint, or the folder of a run [default: that of INPUT, where it is a
    /// run or a checkpoint].
    #[arg(long, value_name = "PATH")]
    state: Option<PathBuf>,
    /// Weights of the model: a safetensors file, the index of a sharded checkpoint, or its folder.
    #[arg(long, value_name = "PATH")]
    weights: Option<PathBuf>,
}

impl Learned {
    /// A model that is ready with the state that it is used with. Where its recipe names no data, it has those of the run of that state.
    ///
    /// # Errors
    /// When nobody says where the weights are, or the recipe of the run cannot be read.
    pub(super) fn of(&self, context: &mut Context, ready: Ready) -> Result<(Bundle, Origin)> {
        let Ready { mut bundle, state, weights, .. } = ready;
        if let Some(weights) = self.weights.clone().or(weights.filter(|_| self.state.is_none())) {
            let tokenizer = weights.join("tokenizer.json");
            if bundle.manifest.recipe.data.is_none() && tokenizer.is_file() {
                let data = DataTable { tokenizer: tokenizer.display().to_string(), ..DataTable::of(Vec::new()) };
                bundle.manifest.recipe.data = Some(data);
            }
            return Ok((bundle, Origin::Weights(weights)));
        }
        let Some(state) = self.state.clone().or(state) else {
            let error = Diagnostic::error(codes::USAGE, "it is not said where the weights are");
            let help = "give the folder of a run as INPUT or with `--state`, or a checkpoint with `--weights`";
            return Err(error.help(help).into());
        };
        if let (None, Some(run)) = (&bundle.manifest.recipe.data, RunFiles::at(&state)) {
            bundle.manifest.recipe.data = context.load(&run.recipe().display().to_string(), &[])?.recipe.data;
        }
        Ok((bundle, Origin::State(state)))
    }
}

/// Where the weights are.
pub(super) enum Origin {
    State(PathBuf),
    Weights(PathBuf),
}

impl Origin {
    /// As a state of the model of a bundle.
    ///
    /// # Errors
    /// When a file cannot be read, or is of another model.
    pub(super) fn read(&self, bundle: &Bundle) -> Result<Tensors> {
        match self {
            Self::Weights(path) => init::state_from_checkpoint(&bundle.manifest, path),
            Self::State(path) => {
                let tensors = tensors::read(&Checkpoint::state_at(path)?.0)?;
                check_state(&bundle.manifest, &tensors)?;
                Ok(tensors)
            }
        }
    }
}

/// The tokenizer of a name, else that of the data of a bundle's recipe, else bytes.
///
/// # Errors
/// When it cannot be read.
pub(super) fn tokenizer(name: Option<&str>, bundle: &Bundle) -> Result<Box<dyn Tokenizer>> {
    let of_recipe = bundle.manifest.recipe.data.as_ref().map(|data| data.tokenizer.as_str());
    Ok(halite_data::open_tokenizer(name.or(of_recipe).unwrap_or("bytes"), Path::new("."))?)
}
