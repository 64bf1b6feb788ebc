//! Plain data that Halite reads and writes, without logic: the [`Recipe`] of a training run and the [`Manifest`] of a
//! bundle, both versioned, both parsing back to what was written; and what is known of the [`target`]s.

mod config;
pub mod estimate;
mod manifest;
mod precision;
mod recipe;
pub mod target;

pub use config::ConfigValue;
pub use manifest::{
    Buffer, BufferContent, IndexRange, Launch, MANIFEST_VERSION, Manifest, ModelInfo, ModuleEntry, ModuleRole, Port,
    PortRole, RoundingChoice, Statistics, Twin,
};
pub use precision::{
    Master, Precision, PrecisionName, PrecisionOverride, RoundingMode, SrBy, SrSites, StochasticRounding,
};
pub use recipe::{
    AdamW, Check, Dialect, Emit, GroupField, ModelChoice, Neuron, Optimizer, Parallel, RECIPE_VERSION, Recipe,
    Schedule, Sgd, Train, Waiver,
};
pub use target::Target;
