//! Plain data that Halite reads and writes, without logic: the [`Recipe`] of a training run and the [`Manifest`] of a
//! bundle. Both are versioned; both parse back to what was written.

pub mod environment;
mod manifest;
mod precision;
mod recipe;

pub use manifest::{
    Buffer, BufferContent, BufferInit, BufferSlot, MANIFEST_VERSION, Manifest, ModelInfo, ModuleEntry, ModuleRole,
    Port, PortRole, RoundingChoice, Statistics, Twin,
};
pub use precision::{
    Master, Precision, PrecisionName, PrecisionOverride, RoundingMode, SrBy, SrSites, StochasticRounding,
};
pub use recipe::{
    AdamW, Check, ConfigValue, Dialect, ModelChoice, Neuron, Optimizer, Parallel, RECIPE_VERSION, Recipe, Schedule,
    Sgd, Target, Train, Waiver,
};
