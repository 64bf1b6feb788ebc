//! The passes: each turns a module into a module, has one file, a stated [`Relation`] between before and after, and
//! golden tests. The [`Runner`] verifies the module after each.

mod audit;
mod dialect;
mod exception;
mod findings;
mod init_lint;
mod packed;
mod pass;
mod pattern;
mod pipeline;
mod remark;
mod rewrite;
mod runner;
mod slots;
mod unused;
mod watch;

mod annotate_rounding;
mod append_optimizer;
mod auto_cast;
mod auto_diff;
mod bind_recipe;
mod causality;
mod check_causality;
mod check_precision;
mod coalesce_layers;
mod cse;
mod dce;
mod dispatch_dialect;
mod expand_composites;
mod fold_causal_mask;
mod fold_constant;
mod fuse_activation;
mod fuse_norm;
mod fuse_rope;
mod fuse_softmax;
mod inline;
mod legalize;
mod simplify;

pub use annotate_rounding::check_realizable;
pub use audit::{Audit, Checked, PrecisionUse, audit, precision_uses};
pub use auto_cast::resolve;
pub use causality::{Assumption, CausalityReport, Finding, Reads, Verdict, Witness, causality};
pub use dialect::{DialectEntry, DialectRegistry, KernelUse, Operand, Site};
pub use findings::Findings;
pub use init_lint::{InitReport, ResidualBranch, ResidualStream, check_init};
pub use pass::{Changed, Kind, Pass, PassCx, PassInfo, Relation};
pub use pattern::{family, matches_pattern};
pub use pipeline::{PassRegistry, Pipeline, Stage};
pub use remark::Remark;
pub use rewrite::Fusion;
pub use runner::{Dump, Moment, PassReport, Runner, RunnerOptions};
pub use simplify::simplify_rules;
pub use unused::check_unused;
pub use watch::{Progress, Watch};

/// The passes that recognize composites spelled out, in the order of the pipeline.
pub fn fusions() -> [Fusion; 4] {
    [fuse_rope::pass(), fuse_norm::pass(), fuse_activation::pass(), fuse_softmax::pass()]
}
