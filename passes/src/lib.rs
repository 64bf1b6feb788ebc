//! The passes: each turns a module into a module, has one file, a stated [`Relation`] between before and after, and
//! golden tests. The [`Runner`] verifies the module after each.

mod analysis;
mod framework;
mod recognize;
mod transform;

pub use analysis::audit::{Audit, Checked, PrecisionUse, audit, precision_uses};
pub use analysis::causality::{Assumption, CausalityReport, Finding, Reads, Verdict, Witness, causality};
pub use analysis::init_lint::{InitReport, ResidualBranch, ResidualStream, check_init};
pub use analysis::unused::check_unused;
pub use framework::dialect::{DialectEntry, DialectRegistry, KernelUse, Operand, Site};
pub use framework::findings::Findings;
pub use framework::pass::{Changed, Kind, Pass, PassCx, PassInfo, Relation};
pub use framework::pattern::{family, matches_pattern};
pub use framework::pipeline::{PassRegistry, Pipeline, Stage};
pub use framework::remark::Remark;
pub use framework::runner::{Dump, Moment, PassReport, Runner, RunnerOptions};
pub use framework::target::TargetView;
pub use framework::watch::{Progress, Watch};
pub use recognize::rewrite::Fusion;
pub use transform::auto_cast::resolve;
pub use transform::simplify::simplify_rules;

/// The passes that recognize composites spelled out, in the order of the pipeline.
pub fn fusions() -> [Fusion; 4] {
    [
        recognize::fuse_rope::pass(),
        recognize::fuse_norm::pass(),
        recognize::fuse_activation::pass(),
        recognize::fuse_softmax::pass(),
    ]
}
