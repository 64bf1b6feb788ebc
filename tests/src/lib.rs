#![doc = include_str!("../README.md")]
//!
//! # In this crate
//!
//! [`Kit`] finds golden files and runs them, [`suites`] says what is done with each, [`Directives`] and [`Document`] read
//! them. The rest serves the tests of the compiler itself: the laws' [`cases`], [`random`] modules, [`mutants`], [`arithmetic_masks`],
//! [`numeric`] checks, [`models`] in Rust, [`compiled`] bundles, [`layouts`] of ranks.

mod accumulation;
mod alone;
mod annotation;
pub mod arithmetic_masks;
pub mod cases;
mod check;
pub mod command_line;
pub mod compiled;
pub mod covering;
pub mod defined;
mod directives;
mod document;
mod dropout;
mod executable;
mod finite;
mod handed;
mod inputs;
pub mod joint;
mod kit;
pub mod known_differences;
pub mod layouts;
pub mod legality;
mod literal;
mod loss_scale;
pub mod many_ranks;
pub mod meshes;
pub mod models;
pub mod mutants;
pub mod numeric;
pub mod optimized;
mod optimizer;
mod packed;
pub mod parallel;
mod partitioned;
pub mod ports;
pub mod random;
mod relation;
pub mod scaled;
pub mod standin_kernels;
pub mod standin_nrt;
pub mod stepping;
pub mod structure;
pub mod suites;
pub mod texts;
pub mod tolerances;
mod within_recipe;
pub mod xla;

pub use alone::{alone, on_own_code};
pub use annotation::{Annotation, match_diagnostics};
pub use check::{Check, Comparison};
pub use directives::Directives;
pub use document::{Anchor, Document};
pub use executable::executable;
pub use inputs::{InputKind, seeded_inputs};
pub use kit::{Case, Kit, Mode, Outcome, Report};
pub use literal::parse_inputs;
pub use packed::{in_model, stored_as};
pub use relation::{Tolerance, agree, check_relation};
pub use suites::Suite;
pub use within_recipe::check_within_recipe;
