//! The measurements of a study of recipes.

use halite_recipe::{Optimizer, Precision};
use halite_train::History;
use serde::Serialize;

/// Everything that was measured. It holds nothing that depends on time, so equal studies have equal reports. In JSON a
/// number that is not finite is `null`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct NumericsReport {
    /// The name of the model for people.
    pub model: String,
    /// The name of the reference, one of the recipes.
    pub against: String,
    /// Updates of each run.
    pub steps: u64,
    /// The layers that parameters belong to, in the order of the model.
    pub layers: Vec<String>,
    /// By recipe, in the order given, the reference last unless it was given.
    pub recipes: Vec<RecipeReport>,
}

impl NumericsReport {
    /// The recipe that all others are held against.
    pub fn reference(&self) -> Option<&RecipeReport> {
        self.recipes.iter().find(|recipe| recipe.name == self.against)
    }
}

/// The runs of one recipe.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RecipeReport {
    /// The precision, or the stem of the recipe file.
    pub name: String,
    /// Element types and rounding.
    pub precision: Precision,
    /// The update rule.
    pub optimizer: Optimizer,
    /// Bytes of weights and optimizer state for each parameter.
    pub state_bytes_per_parameter: f64,
    /// By seed, in the order given.
    pub runs: Vec<RunReport>,
}

/// One run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RunReport {
    /// Seed of the state and of the order of data.
    pub seed: u64,
    /// The update with which it diverged; nothing is measured of one that is not finite itself.
    pub diverged: Option<u64>,
    /// Loss, gradient norm and held-out loss.
    #[serde(flatten)]
    pub history: History,
    /// In the order of updates.
    pub gradient_errors: Vec<GradientErrors>,
}

/// The errors of the gradients of one step against those of the reference at the same weights on the same batch.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct GradientErrors {
    /// Completed updates.
    pub step: u64,
    /// By layer: norm of the difference over norm of the reference, over all parameters of the layer.
    pub by_layer: Vec<f64>,
}
