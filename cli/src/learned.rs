//! The weights that a command uses: the state of a run, or weights from elsewhere.

use crate::context::{Ready, Result};
use clap::Args;
use halite_bundle::Bundle;
use halite_train::WeightsAt;
use std::path::PathBuf;

/// The options that name the weights.
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
    /// The bundle of a model that is ready, and the place of its weights. Where its recipe names no data, it takes those of the run of
    /// that state.
    ///
    /// # Errors
    /// When nobody says where the weights are, or the recipe of the run cannot be read.
    pub(super) fn of(&self, ready: Ready) -> Result<(Bundle, WeightsAt)> {
        let Ready { mut bundle, state, weights, .. } = ready;
        let weights = self.weights.clone().or(weights.filter(|_| self.state.is_none()));
        let weights = WeightsAt::of(self.state.clone().or(state), weights)?;
        if bundle.manifest.recipe.data.is_none() {
            bundle.manifest.recipe.data = weights.data()?;
        }
        Ok((bundle, weights))
    }
}
