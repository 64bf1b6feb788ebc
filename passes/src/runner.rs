//! Running pipelines: in order, timed, verified after each pass, with dumps and a limit for bisection.

use crate::pass::{Changed, Kind, Pass, PassCx};
use crate::pipeline::{Pipeline, Stage};
use crate::watch::Watch;
use halite_ir::{Module, Phase, PhaseRule, Seal, Verified, VerifyErrors, broken_rules, fingerprint, verify};
use halite_support::{Diagnostic, Name, Result};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often a group is repeated at most.
const MAX_ROUNDS: usize = 8;

/// How a runner works.
#[derive(Clone, Debug)]
pub struct RunnerOptions {
    /// Verify the module after every pass that changed it; it is always verified at the end and at a change of phase.
    pub verify_each: bool,
    /// Compare each pass's report of a change with the structure of the module.
    pub check_changed: bool,
    /// Run only the first so many optimizations; required passes always run.
    pub limit: Option<usize>,
    /// Who may stop the work, and who hears of it.
    pub watch: Watch,
}

impl Default for RunnerOptions {
    fn default() -> Self {
        Self { verify_each: true, check_changed: cfg!(debug_assertions), limit: None, watch: Watch::default() }
    }
}

/// When a module is shown to a [`Dump`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Moment {
    /// Before the pass.
    Before,
    /// After it.
    After,
}

impl Moment {
    /// `before` or `after`, as in the names of dumps.
    pub fn name(self) -> &'static str {
        match self {
            Moment::Before => "before",
            Moment::After => "after",
        }
    }
}

/// Sees modules around passes.
pub trait Dump {
    /// Shows the module around run number `index` of the pipeline, counted from 0 over all passes that ran, those of an
    /// earlier runner [included](Runner::after).
    fn dump(&mut self, index: usize, pass: &str, moment: Moment, module: &Module);
}

/// What one run of one pass did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PassReport {
    /// Its name.
    pub name: Name,
    /// Whether it counts for the limit.
    pub optimization: bool,
    /// Time in the pass itself.
    pub time: Duration,
    /// Time of the verification after it.
    pub verify_time: Duration,
    /// Whether it changed the module.
    pub changed: Changed,
    /// Instructions of all functions afterwards.
    pub insts: usize,
}

/// Runs pipelines.
pub struct Runner<'a> {
    options: RunnerOptions,
    dump: Option<&'a mut dyn Dump>,
    reports: Vec<PassReport>,
    optimizations: usize,
    /// The rules of later phases that the module broke when it came in.
    given: Vec<PhaseRule>,
    /// That the module was verified after the pass that changed it last.
    sealed: Option<Seal>,
}

impl std::fmt::Debug for Runner<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner").field("options", &self.options).field("reports", &self.reports).finish_non_exhaustive()
    }
}

impl<'a> Runner<'a> {
    /// A runner without dumps.
    pub fn new(options: RunnerOptions) -> Self {
        Self { options, dump: None, reports: Vec::new(), optimizations: 0, given: Vec::new(), sealed: None }
    }

    /// Counts on from what another runner did with the same module.
    #[must_use]
    pub fn after(self, reports: &[PassReport]) -> Self {
        let optimizations = reports.iter().filter(|report| report.optimization).count();
        Self { reports: reports.to_vec(), optimizations, ..self }
    }

    /// Shows every module to `dump`.
    #[must_use]
    pub fn with_dump(self, dump: &'a mut dyn Dump) -> Self {
        Self { dump: Some(dump), ..self }
    }

    /// What ran so far, in order.
    pub fn reports(&self) -> &[PassReport] {
        &self.reports
    }

    /// Runs a pipeline on a module, which is verified in the end: after the pass that changed it last.
    ///
    /// A module that comes from outside keeps the rules of its own phase; those of a later one that it breaks from the start
    /// are not the fault of the pass that leads there.
    ///
    /// # Errors
    /// What a pass says of the input, what keeps the input from a later phase, a bug diagnostic that names the pass after
    /// which the module is broken, or that the work was cancelled.
    pub fn run<'m>(&mut self, pipeline: &Pipeline, module: &'m mut Module, cx: &PassCx<'_>) -> Result<Verified<'m>> {
        pipeline.check_phases(module.phase)?;
        self.sealed = None;
        if self.reports.is_empty() {
            self.given = broken_rules(module, Phase::Legal);
        }
        for stage in &pipeline.stages {
            match stage {
                Stage::Once(pass) => {
                    self.run_pass(pass, module, cx)?;
                }
                Stage::Fixpoint(passes) => self.run_fixpoint(passes, module, cx)?,
            }
        }
        let module: &'m Module = module;
        match self.sealed.take().and_then(|seal| seal.reopen(module)) {
            Some(verified) => Ok(verified),
            None => verify(module, cx.registry).map_err(|errors| errors.into_bug("after the last pass")),
        }
    }

    /// Repeats a group until every pass of it has seen the module without changing it, or the bound is reached: each round
    /// leaves a valid module, so stopping early is only a missed optimization.
    fn run_fixpoint(&mut self, passes: &[Arc<dyn Pass>], module: &mut Module, cx: &PassCx<'_>) -> Result<()> {
        let mut quiet = 0;
        for pass in passes.iter().cycle().take(MAX_ROUNDS * passes.len()) {
            quiet = if self.run_pass(pass, module, cx)? == Changed::Yes { 0 } else { quiet + 1 };
            if quiet == passes.len() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn run_pass(&mut self, pass: &Arc<dyn Pass>, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let info = pass.info();
        self.options.watch.cancel.check()?;
        if info.kind == Kind::Optimization {
            if self.options.limit.is_some_and(|limit| self.optimizations >= limit) {
                return Ok(Changed::No);
            }
            self.optimizations += 1;
        }
        let _span = tracing::debug_span!("pass", name = &*info.name, module = &*module.name).entered();
        self.options.watch.started(&module.name, &info.name);
        let index = self.reports.len();
        self.show(index, &info.name, Moment::Before, module);
        let before = self.options.check_changed.then(|| fingerprint(module));
        let start = Instant::now();
        let changed = pass.run(module, cx)?;
        let time = start.elapsed();
        if let Some(phase) = info.gives {
            module.phase = phase;
        }
        self.show(index, &info.name, Moment::After, module);
        if let Some(before) = before
            && (fingerprint(module) != before) != (changed == Changed::Yes)
        {
            let message =
                format!("internal error: pass `{}` reports {changed:?} for changed, which is not so", info.name);
            return Err(Diagnostic::bug(message));
        }
        let start = Instant::now();
        if info.gives.is_some() || (self.options.verify_each && changed == Changed::Yes) {
            let verified =
                verify(module, cx.registry).map_err(|errors| self.blame(errors, &info.name, module.phase))?;
            self.sealed = Some(verified.seal());
        } else if changed == Changed::Yes {
            self.sealed = None;
        }
        let insts = module.num_insts();
        let optimization = info.kind == Kind::Optimization;
        self.reports.push(PassReport {
            name: info.name,
            optimization,
            time,
            verify_time: start.elapsed(),
            changed,
            insts,
        });
        if let Some(report) = self.reports.last() {
            self.options.watch.finished(&module.name, report);
        }
        Ok(changed)
    }

    /// Who broke a module that `pass` left: the pass, or whoever made the module.
    fn blame(&self, errors: VerifyErrors, pass: &str, phase: Phase) -> Diagnostic {
        if errors.are_only(&self.given) {
            errors.into_input(format!(
                "`{pass}` leads to phase `{phase}`, where this is a rule; the module broke it before the first pass"
            ))
        } else {
            errors.into_bug(format!("after pass `{pass}`"))
        }
    }

    fn show(&mut self, index: usize, pass: &str, moment: Moment, module: &Module) {
        if let Some(dump) = &mut self.dump {
            dump.dump(index, pass, moment, module);
        }
    }
}
