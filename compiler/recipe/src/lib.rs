//! Recipes: what to train and how.
//!
//! - [`Recipe`] is the data, versioned, that parses back to what was written;
//! - [`load`] reads its text: TOML in, a checked recipe out, every error a diagnostic at its place;
//! - [`check`] holds a recipe to the rules on what goes together, wherever it comes from.
//!
//! An [`Extension`] supplies what a target adds (its name, a table of its own with the rules of that table), the update rules, the
//! shapes of schedules and the formats of data; this crate knows no target by name.

mod accumulate;
mod checkpoint;
mod config;
mod cuts;
mod data;
mod declare;
mod extension;
mod loss_scale;
mod mesh;
mod metrics;
mod no_extension;
mod optimizer;
mod parallel;
mod places;
mod precision;
mod ranks;
mod recipe;
mod recompute;
mod recovery;
mod rules;
mod schedule;
pub mod schema;
mod sizes;
mod stages;
mod target;
#[cfg(test)]
mod testing;
mod text;
mod visible;

pub use accumulate::{Accumulate, Form};
pub use checkpoint::CheckpointOptions;
pub use config::ConfigValue;
pub use cuts::Cuts;
pub use data::{DataSource, DataTable, Documents, OnError, Pack, Part};
pub use extension::{Extension, Section, keys};
pub use halite_schedule::{Pipeline, ScheduleKind};
#[doc(hidden)]
pub use halite_support::doc;
pub use loss_scale::{DynamicLossScale, LossScale};
pub use mesh::{batch_ranks, sub_axes_that_divide};
pub use metrics::{MetricsOptions, REST};
pub use no_extension::NoExtension;
pub use optimizer::{Clip, Group, Optimizer, Rule};
pub use parallel::{Divides, MeshAxis, Parallel, SHARDS_STATE, SHARDS_SUMS, SHARDS_WEIGHTS, Shard};
pub use places::Places;
pub use precision::{
    Master, Precision, PrecisionName, PrecisionOverride, RoundingMode, SrBy, SrSites, StochasticRounding,
};
pub use recipe::{Calls, Check, Dialect, Emit, ModelChoice, Nonfinite, Recipe, Train, Waiver};
pub use recompute::{ByteSize, Recompute, RecomputePolicy, RecomputeWhere};
pub use recovery::RecoveryOptions;
pub use rules::{check, check_realizable, in_update};
pub use schedule::Schedule;
pub use schema::{RECIPE_VERSION, Words};
pub use sizes::Sizes;
pub use target::TargetName;
pub use text::{Hint, hint, load, load_over, model_of, other_names};
pub use visible::check_visible;
