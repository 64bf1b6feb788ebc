//! What the test suites share: the golden harness, and the laws' [`cases`], [`random`] modules, [`mutants`] and [`numeric`] checks.
//!
//! In a golden file, one text file is one test, with input and expectation together.
//!
//! # Files
//!
//! A golden file is IR text (`.ir`; `.txt` in `policy` and `legality`) with comments of four kinds, which the IR parser skips:
//!
//! | prefix | meaning | who writes it |
//! |---|---|---|
//! | `//@ key: value` | a directive, see [`Directives`] | a person |
//! | `//> text` | the exact expected output, see [`Document`] | the bless run |
//! | `//~ error: text` | a diagnostic on this line, as a part of its headline; `//~^` the line above, `//~?` no line | a person |
//! | `//$ run @f([1, 2]) == [3]` | an execution check, on the interpreter and on CPU XLA; `~=` compares with the tolerance | a person |
//!
//! ```text
//! //@ suite: opt
//! //@ passes: simplify, dce
//!
//! // Multiplying by one leaves the other operand.
//! func @multiply_one(%x: f32[4]) -> (f32[4]) {
//!   %one = constant 1.0 : f32[4]
//!   %y = multiply %x, %one : f32[4]
//!   return %y
//! }
//! //> func @multiply_one(%x: f32[4]) -> (f32[4]) {
//! //>   return %x
//! //> }
//! //$ run @multiply_one([1, 2, 3, 4]) == [1, 2, 3, 4]
//! ```
//!
//! # Suites
//!
//! | suite | does | compares |
//! |---|---|---|
//! | `parse` | parses, prints | the printed module, which must parse back to the same text |
//! | `verify` | parses, verifies | `//~` |
//! | `opt` | runs `passes` | the functions after it; each pass's declared relation, on the interpreter and on CPU XLA |
//! | `grad` | runs `auto-diff` | as `opt`; the gradients with central differences |
//! | `lower` | runs `passes`, lowers to HLO | the HLO as text; CPU XLA with the interpreter |
//! | `run` | nothing | `//$` |
//! | `policy` | nothing | the table of policies of all ops, under every named precision recipe |
//! | `legality` | makes HLO that breaks a rule of a Neuron target, and HLO that does not | both, and what is found |
//!
//! `//$` checks are executed in every suite. Without a PJRT plugin they cannot run on XLA: that is counted, and the whole
//! run fails.
//!
//! # Blessing
//!
//! `cargo bless [filter]` rewrites the `//>` lines in place. Anything else that fails (a relation, an execution, a
//! diagnostic) is never blessed.
//!
//! # For your own passes
//!
//! ```no_run
//! use halite_passes::PassRegistry;
//! use halite_tests::Harness;
//!
//! let mut passes = PassRegistry::builtin();
//! // passes.register(Arc::new(MyPass))?;
//! let harness = Harness::new("tests/golden").with_passes(passes).bless_command("cargo test --test golden -- --bless");
//! harness.main();
//! ```

mod annotation;
pub mod cases;
mod check;
pub mod command_line;
mod directives;
mod document;
mod executable;
mod executions;
mod harness;
mod inputs;
pub mod joint;
pub mod known_differences;
pub mod legality;
mod literal;
pub mod mutants;
pub mod numeric;
pub mod optimizer;
mod packed;
pub mod random;
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
pub use executions::{Execution, Executions};
pub use harness::{Case, Harness, Outcome, Tools};
pub use inputs::{InputKind, seeded_inputs};
pub use literal::parse_inputs;
pub use packed::{in_model, stored_as};
pub use relation::{Tolerance, agree, check_relation};
pub use suites::Suite;
pub use within_recipe::check_within_recipe;
