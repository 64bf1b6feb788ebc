#![doc = include_str!("../README.md")]
//!
//! # In this crate
//!
//! [`Kit`] finds golden files and runs them, [`suites`] says what is done with each, [`Directives`] and [`Document`] read them.
//! An [`Oracle`] holds passes that define results to a model of them. The rest serves tests that are not golden files: [`cases`] are
//! the samples of every op, [`numeric`] makes seeded tensors and derivatives, [`xla`] runs modules on CPU XLA.

mod annotation;
pub mod cases;
mod check;
mod directives;
mod document;
mod executable;
mod handed;
mod inputs;
mod kit;
mod literal;
pub mod numeric;
mod oracle;
mod packed;
mod relation;
pub mod suites;
pub mod tolerances;
mod within_recipe;
pub mod xla;

pub use annotation::{Annotation, match_diagnostics};
pub use check::{Check, Comparison};
pub use directives::Directives;
pub use document::{Anchor, Document};
pub use executable::executable;
pub use inputs::{InputKind, seeded_inputs};
pub use kit::{Case, Kit, Mode, Outcome, Report};
pub use literal::parse_inputs;
pub use oracle::Oracle;
pub use packed::{in_model, stored_as};
pub use relation::{Tolerance, agree, check_relation};
pub use suites::Suite;
pub use within_recipe::check_within_recipe;
