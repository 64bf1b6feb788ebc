//! Pipelines in which one application of one pass has only some of its rules.

use super::Culprit;
use halite_ir::Module;
use halite_passes::{Changed, Pass, PassCx, PassInfo, Pipeline};
use halite_support::{Name, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The rules of a pass of a pipeline; `None` when it is not made of rules.
pub(super) fn of(pipeline: &Pipeline, pass: &str) -> Option<Vec<Name>> {
    let rules = pipeline.passes().find(|known| known.info().name == pass)?.rules();
    (!rules.is_empty()).then_some(rules)
}

/// The pipeline with only the first `count` rules in the application that a culprit names. It serves for one run.
pub(super) fn limited(pipeline: &Pipeline, culprit: &Culprit, count: usize) -> Pipeline {
    let is_culprit = |pass: &&Arc<dyn Pass>| pass.info().name == culprit.pass;
    let Some(pass) = pipeline.passes().find(is_culprit) else { return pipeline.clone() };
    let Some(part) = pass.with_rules(count) else { return pipeline.clone() };
    let whole = pass.clone();
    let limited: Arc<dyn Pass> =
        Arc::new(Limited { whole, part, application: culprit.application, runs: AtomicUsize::new(0) });
    let replace = |pass: &Arc<dyn Pass>| if is_culprit(&pass) { limited.clone() } else { pass.clone() };
    pipeline.map(replace)
}

/// A pass of which one application has fewer rules.
#[derive(Debug)]
struct Limited {
    whole: Arc<dyn Pass>,
    part: Arc<dyn Pass>,
    /// The number of that application, from 1.
    application: usize,
    runs: AtomicUsize,
}

impl Pass for Limited {
    fn info(&self) -> PassInfo {
        self.whole.info()
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let run = self.runs.fetch_add(1, Ordering::Relaxed) + 1;
        if run == self.application { self.part.run(module, cx) } else { self.whole.run(module, cx) }
    }
}
