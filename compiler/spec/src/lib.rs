//! Plain data that Halite reads and writes, without logic: the [`Recipe`] of a training run and the [`Manifest`] of a
//! bundle. Both are versioned; both parse back to what was written.

mod manifest;
mod recipe;

pub use manifest::{
    Buffer, BufferInit, BufferSlot, MANIFEST_VERSION, Manifest, ModelInfo, ModuleEntry, ModuleRole, Port, PortRole,
    Statistics,
};
pub use recipe::{
    AdamW, ConfigValue, ModelChoice, Optimizer, Parallel, PrecisionRecipe, RECIPE_VERSION, Recipe, Schedule, Sgd,
    Target, Train,
};
