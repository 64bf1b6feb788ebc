//! Recipes: what to train and how.
//!
//! - [`Recipe`] is the data, versioned, that parses back to what was written;
//! - [`load`] reads its text: TOML in, a checked recipe out, every error a diagnostic at its place;
//! - [`check`] holds a recipe to the rules on what goes together, wherever it comes from.
//!
//! What a target adds (its name, a table of its own with the rules of that table) is an [`Extension`]; this crate knows
//! no target by name.

mod config;
mod declare;
mod extension;
mod places;
mod planned;
mod precision;
mod recipe;
mod rules;
pub mod schema;
mod target;
mod text;
mod visible;

pub use config::ConfigValue;
pub use extension::{Extension, NoExtension, Section};
pub use places::Places;
pub use planned::{Planned, not_compiled, warn_not_compiled};
pub use precision::{
    Master, Precision, PrecisionName, PrecisionOverride, RoundingMode, SrBy, SrSites, StochasticRounding,
};
pub use recipe::{
    AdamW, Check, Dialect, ModelChoice, Optimizer, Parallel, RECIPE_VERSION, Recipe, Schedule, Sgd, Train, Waiver,
};
pub use rules::{check, check_realizable};
pub use target::TargetName;
pub use text::{hint, load, load_over};
pub use visible::check_visible;
