//! The passes: each turns a module into a module, has one file, a stated [`Relation`] between before and after, and
//! golden tests. The [`Runner`] verifies the module after each.

mod audit;
mod exception;
mod findings;
mod pass;
mod pattern;
mod pipeline;
mod remark;
mod runner;
mod slots;

mod annotate_rounding;
mod append_optimizer;
mod auto_cast;
mod auto_diff;
mod bind_recipe;
mod check_precision;
mod cse;
mod dce;
mod expand_composites;
mod fold_constant;
mod inline;
mod legalize;
mod simplify;

pub use annotate_rounding::check_realizable;
pub use audit::{Audit, Checked, PrecisionUse, audit, precision_uses};
pub use auto_cast::resolve;
pub use findings::Findings;
pub use pass::{Changed, Kind, Pass, PassCx, PassInfo, Relation};
pub use pattern::{family, matches_pattern};
pub use pipeline::{PassRegistry, Pipeline, Stage};
pub use remark::Remark;
pub use runner::{Dump, Moment, PassReport, Runner, RunnerOptions};
pub use simplify::simplify_rules;
