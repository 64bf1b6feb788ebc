//! What a model has learned: the state of a run, or weights from elsewhere.

use crate::context::Result;
use clap::Args;
use halite_bundle::tensors::{self, Tensors};
use halite_bundle::{Bundle, check_state, init};
use halite_data::Tokenizer;
use halite_train::Checkpoint;
use std::path::{Path, PathBuf};

/// The options that say where it is.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(super) struct Learned {
    /// The state of a run of this recipe or bundle: a file, a checkpoint, or the folder of a run.
    #[arg(long, value_name = "PATH")]
    state: Option<PathBuf>,
    /// Weights of the model: a safetensors file, the index of a sharded checkpoint, or its folder.
    #[arg(long, value_name = "PATH")]
    weights: Option<PathBuf>,
}

impl Learned {
    /// As a state of the model of a bundle.
    ///
    /// # Errors
    /// When a file cannot be read, or is of another model.
    pub(super) fn read(&self, bundle: &Bundle) -> Result<Tensors> {
        if let Some(path) = &self.weights {
            return init::state_from_checkpoint(&bundle.manifest, path);
        }
        let state = self.state.as_deref().map(Checkpoint::state_at).transpose()?;
        let tensors = state.map(|(state, _)| tensors::read(&state)).transpose()?.unwrap_or_default();
        check_state(&bundle.manifest, &tensors)?;
        Ok(tensors)
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
