//! What a model has learned: the state of a run, or weights from elsewhere.

use crate::context::Result;
use clap::Args;
use halite_bundle::tensors::{self, Tensors};
use halite_bundle::{Bundle, check_state, init};
use std::path::PathBuf;

/// The options that say where it is.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(super) struct Learned {
    /// The state of a run of this recipe or bundle.
    #[arg(long, value_name = "FILE")]
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
        let tensors = self.state.as_deref().map(tensors::read).transpose()?.unwrap_or_default();
        check_state(&bundle.manifest, &tensors)?;
        Ok(tensors)
    }
}
