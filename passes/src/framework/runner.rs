//! Running pipelines: in order, timed, verified after each pass, with dumps and a limit for bisection.

use crate::framework::pass::{Changed, Kind, Pass, PassCx};
use crate::framework::pipeline::{Group, Pipeline, Stage};
use crate::framework::report::PassReport;
use crate::framework::watch::Watch;
use halite_ir::{Module, Phase, PhaseRule, Seal, Verified, VerifyErrors, broken_rules, fingerprint, verify};
use halite_support::{Diagnostic, Result, codes};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Instant;

/// Options of a runner.
#[derive(Clone, Debug)]
pub struct RunnerOptions {
    /// Verify the module after every pass that changed it; it is always verified at the end and at a change of phase.
    pub verify_each: bool,
    /// Compare each pass's report of a change with the structure of the module.
    pub check_changed: bool,
    /// Run only the first so many optimizations; required passes always run.
    pub limit: Option<usize>,
    /// The token that cancels the work, and the listener to its progress.
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
pub enum DumpPoint {
    /// Before the pass.
    Before,
    /// After it.
    After,
}

impl DumpPoint {
    /// `before` or `after`, as in the names of dumps.
    pub fn name(self) -> &'static str {
        match self {
            DumpPoint::Before => "before",
            DumpPoint::After => "after",
        }
    }
}

/// Sees modules around passes.
pub trait Dump {
    /// Shows the module around run number `index` of the pipeline, counted from 0 over all passes that ran, those of an
    /// earlier runner [included](Runner::after).
    fn dump(&mut self, index: usize, pass: &str, point: DumpPoint, module: &Module);
}

/// Runs pipelines.
pub struct Runner<'a> {
    options: RunnerOptions,
    dump: Option<&'a mut dyn Dump>,
    reports: Vec<PassReport>,
    optimizations: usize,
    /// The rules of later phases that the module broke when it came in.
    broken_before: Vec<PhaseRule>,
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
        Self { options, dump: None, reports: Vec::new(), optimizations: 0, broken_before: Vec::new(), sealed: None }
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

    /// The reports of the passes that ran so far, in order.
    pub fn reports(&self) -> &[PassReport] {
        &self.reports
    }

    /// Runs a pipeline on a module, which is verified in the end: after the pass that changed it last.
    ///
    /// A module that comes from outside keeps the rules of its own phase; those of a later one that it breaks from the start
    /// are not the fault of the pass that leads there.
    ///
    /// # Errors
    /// The error of a pass on the input, a rule of a later phase that the input breaks, a bug diagnostic that names the pass after
    /// which the module is broken, or a cancellation.
    pub fn run<'m>(&mut self, pipeline: &Pipeline, module: &'m mut Module, cx: &PassCx<'_>) -> Result<Verified<'m>> {
        pipeline.check_phases(module.phase)?;
        self.sealed = None;
        if self.reports.is_empty() {
            self.broken_before = broken_rules(module, Phase::Legal);
        }
        for stage in &pipeline.stages {
            match stage {
                Stage::Once(pass) => {
                    self.run_pass(pass, module, cx)?;
                }
                Stage::Fixpoint(group) => self.run_group(group, module, cx)?,
            }
        }
        let module: &'m Module = module;
        match self.sealed.take().and_then(|seal| seal.reopen(module)) {
            Some(verified) => Ok(verified),
            None => verify(module, cx.registry).map_err(|errors| errors.into_bug("after the last pass")),
        }
    }

    /// Repeats a group until every pass of it has seen the module without changing it, or the bound is reached: each round
    /// leaves a valid module, so stopping early is only a missed optimization, which is warned of.
    fn run_group(&mut self, group: &Group, module: &mut Module, cx: &PassCx<'_>) -> Result<()> {
        let mut quiet = 0;
        for _ in 0..group.rounds.get() {
            for pass in &group.passes {
                quiet = if self.run_pass(pass, module, cx)? == Changed::Yes { 0 } else { quiet + 1 };
                if quiet == group.passes.len() {
                    return Ok(());
                }
            }
        }
        if quiet < group.passes.len() {
            cx.warn(|| unsettled(group, module));
        }
        Ok(())
    }

    fn run_pass(&mut self, pass: &Arc<dyn Pass>, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let info = pass.info();
        let cancel = self.options.watch.cancel.clone();
        cancel.check()?;
        if info.kind == Kind::Optimization {
            if self.options.limit.is_some_and(|limit| self.optimizations >= limit) {
                return Ok(Changed::No);
            }
            self.optimizations += 1;
        }
        let _span = tracing::debug_span!("pass", name = &*info.name, module = &*module.name).entered();
        self.options.watch.started(&module.name, &info.name);
        let index = self.reports.len();
        self.show(index, &info.name, DumpPoint::Before, module);
        let before = self.options.check_changed.then(|| fingerprint(module));
        let start = Instant::now();
        let changed = cancel.within(|| pass.run(module, cx));
        // What a pass says of work that was stopped is of no account.
        cancel.check()?;
        let changed = changed?;
        let time = start.elapsed();
        if let Some(phase) = info.gives {
            module.phase = phase;
        }
        self.show(index, &info.name, DumpPoint::After, module);
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

    /// Attributes the errors of a module that `pass` left: to the pass, or to the maker of the module.
    fn blame(&self, errors: VerifyErrors, pass: &str, phase: Phase) -> Diagnostic {
        if errors.are_only(&self.broken_before) {
            errors.into_input(format!(
                "`{pass}` leads to phase `{phase}`, where this is a rule; the module broke it before the first pass"
            ))
        } else {
            errors.into_bug(format!("after pass `{pass}`"))
        }
    }

    fn show(&mut self, index: usize, pass: &str, point: DumpPoint, module: &Module) {
        if let Some(dump) = &mut self.dump {
            dump.dump(index, pass, point, module);
        }
    }
}

/// A group reached its bound.
fn unsettled(group: &Group, module: &Module) -> Diagnostic {
    let (rounds, twice) = (group.rounds, group.rounds.saturating_mul(NonZeroU32::MIN.saturating_add(1)));
    let times = if rounds == NonZeroU32::MIN { "once".to_owned() } else { format!("{rounds} times") };
    let names = group.names();
    let module = if module.name.is_empty() { "the module".to_owned() } else { format!("`@{}`", module.name) };
    let message = format!("`{names}` ran {times} and still changed {module}");
    Diagnostic::warning(codes::UNSETTLED, message)
        .note("what it gives is right, but may be larger than it need be")
        .help(format!("repeat the group more often: `{}`", names.rounds(twice)))
}
