//! The passes: each turns a module into a module, has one file, a stated [`Relation`] between before and after, and
//! golden tests. The [`Runner`] verifies the module after each.

mod analysis;
mod builtin;
mod framework;
mod recognize;
mod transform;

pub use analysis::audit::{Audit, Checked, PrecisionUse, audit, precision_uses};
pub use analysis::unused::check_unused;
pub use framework::dialect::{DialectEntry, DialectRegistry, KernelUse, Operand, Site};
pub use framework::example::Example;
pub use framework::findings::Findings;
pub use framework::membership::{decay_of, groups_of};
pub use framework::pass::{Changed, Kind, MadeBy, Milestone, Pass, PassCx, PassInfo, Relation, Smaller};
pub use framework::pattern::matches_pattern;
pub use framework::pipeline::{Group, Pipeline, PipelineSpec, Stage};
pub use framework::registry::PassRegistry;
pub use framework::remark::Remark;
pub use framework::report::PassReport;
pub use framework::runner::{Dump, DumpPoint, Runner, RunnerOptions};
pub use framework::target::{RankSource, TargetView, UnreadInputs};
pub use framework::watch::{Progress, Watch};
pub use recognize::fusions;
pub use recognize::rewrite::Fusion;
pub use transform::auto_cast::resolve;
pub use transform::place_stages::{PartCost, part_costs};
pub use transform::simplify::simplify_rules;
pub use transform::split_stages::{StageProgram, stage_programs};
