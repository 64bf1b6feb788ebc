//! A recipe under study: the programs that optimized ones are compared with.

use super::causality::{self, Causality};
use super::each_pass::{self, EachPassReport, PassRow};
use super::program::{Loaded, Output, Outputs, Program};
use super::verdict::{self, Residual};
use super::{Culprit, VerifyOptions, VerifyReport, VerifyRow, rules, scale};
use crate::compile::locate;
use crate::random::Stream;
use crate::session::Session;
use crate::source::Source;
use halite_passes::Pipeline;
use halite_runtime::Executor;
use halite_spec::{ModuleRole, PrecisionName, Target};
use halite_support::{Diagnostic, Diagnostics, Name};
use halite_tensor::DType;
use halite_tensor::compare::difference;
use std::ops::Range;

/// What counts as a roundoff where the program itself is in `f64`: it is then its own truth, and sums of many elements in
/// another order differ by more than one. Twice this is the 1e-12 to which `f64` programs are held.
const F64_ROUNDOFF: f64 = 0.5e-12;

/// The programs that optimized ones of a recipe are compared with, compiled once and run on one draw of inputs.
pub struct Study<'a> {
    session: &'a Session,
    options: &'a VerifyOptions,
    executor: &'a dyn Executor,
    source: Source,
    scaled: Vec<(String, i64, i64)>,
    optimized: Pipeline,
    truth: Loaded,
    unoptimized: Loaded,
    first: Draw,
}

/// Inputs, and what comes of them without optimizations.
struct Draw {
    seed: u64,
    truth: Outputs,
    unoptimized: Outputs,
}

impl std::fmt::Debug for Study<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Study").field("options", &self.options).field("scaled", &self.scaled).finish_non_exhaustive()
    }
}

impl<'a> Study<'a> {
    pub(super) fn new(
        session: &'a Session,
        source: &Source,
        options: &'a VerifyOptions,
        executor: &'a dyn Executor,
    ) -> Result<Self, Diagnostics> {
        let mut source = source.clone();
        let scaled = if options.full { Vec::new() } else { scale::scale_down(session, &mut source)? };
        let text = options.pipeline.as_deref().unwrap_or_else(|| session.pipelines.of(options.role));
        let optimized = session.passes.pipeline(text)?;
        let plain = optimized.required_only();
        let mut reference = source.clone();
        reference.recipe.target = Target::Cpu;
        let mut wide = reference.clone();
        wide.recipe.precision = PrecisionName::Fp64.precision();
        let load =
            |source: &Source| Loaded::new(Program::compile(session, source, options.role, &plain, None)?, executor);
        let (truth, unoptimized) = (load(&wide)?, load(&reference)?);
        let first = Draw::new(options.seed, &truth, &unoptimized, executor, &source)?;
        Ok(Self { session, options, executor, source, scaled, optimized, truth, unoptimized, first })
    }

    /// The pipeline of the options.
    pub fn pipeline(&self) -> &Pipeline {
        &self.optimized
    }

    /// Verifies a pipeline that differs from that of the options in optimizations only. Causality is not looked at.
    ///
    /// # Errors
    /// As [`Session::verify`].
    pub fn verify(&self, pipeline: &Pipeline) -> Result<VerifyReport, Diagnostics> {
        let program = self.whole(pipeline)?;
        let warnings = program.audit.diagnostics().into_iter().map(|finding| locate(&self.source, finding)).collect();
        let rows = self.rows(program, 1)?;
        Ok(VerifyReport { scaled: self.scaled.clone(), rows, causality: None, warnings })
    }

    /// The rows of [`verify`](Self::verify) for each of some seeds in the place of that of the options; the pipeline is
    /// compiled once.
    ///
    /// # Errors
    /// As [`Session::verify`].
    pub fn verify_seeds(&self, pipeline: &Pipeline, seeds: Range<u64>) -> Result<Vec<Vec<VerifyRow>>, Diagnostics> {
        let candidate = Loaded::new(self.whole(pipeline)?, self.executor)?;
        seeds.map(|seed| self.judge(&candidate, seed, 1)).collect()
    }

    /// Whether tokens change what stands before them in the forward module; its pipeline is that of the options when these
    /// are about that module.
    ///
    /// # Errors
    /// As [`Session::verify`].
    pub fn causality(&self) -> Result<Option<Causality>, Diagnostics> {
        let forward = match self.options.role {
            ModuleRole::Forward => self.optimized.clone(),
            _ => {
                let text = self.session.pipelines.of(ModuleRole::Forward);
                self.session.passes.pipeline(text)?
            }
        };
        let program = Program::compile(self.session, &self.source, ModuleRole::Forward, &forward, None)?;
        let program = program.legal(&self.source)?;
        causality::confirm(&program, &self.source, self.executor, self.options.seed)
    }

    /// The results whose reference is not finite, so that they cannot be judged and no optimization can be blamed.
    pub fn not_finite(&self) -> Vec<String> {
        let is_finite = |output: &Output| output.change.f64s().into_iter().all(f64::is_finite);
        let is_judged = |name: &str, plain| is_finite(plain) && self.first.truth_of(name).is_none_or(is_finite);
        let outputs = self.first.unoptimized.iter();
        outputs.filter(|(name, plain)| !is_judged(name, plain)).map(|(name, _)| name.clone()).collect()
    }

    /// The first optimization of a pipeline after which the results are wrong, and its rule, found by halving; `None` when
    /// they never are, or a reference is not finite.
    ///
    /// # Errors
    /// As [`Session::verify`].
    pub fn bisect(&self, pipeline: &Pipeline) -> Result<Option<Culprit>, Diagnostics> {
        let whole = self.whole(pipeline)?;
        let names = whole.names();
        if !self.not_finite().is_empty() || !self.rows(whole, 1)?.iter().any(VerifyRow::is_wrong) {
            return Ok(None);
        }
        let number = self.halve(names.len(), |count| self.program(pipeline, Some(count)));
        let Some(culprit) = culprit(&names, number) else { return Ok(None) };
        let rule = self.rule(pipeline, &culprit)?;
        Ok(Some(Culprit { rule, ..culprit }))
    }

    /// The rule of an optimization at fault, found by halving; `None` when the pass is not made of rules.
    ///
    /// # Errors
    /// As [`Session::verify`].
    pub fn rule(&self, pipeline: &Pipeline, culprit: &Culprit) -> Result<Option<String>, Diagnostics> {
        let Some(rules) = rules::of(pipeline, &culprit.pass) else { return Ok(None) };
        let number = self.halve(rules.len(), |count| {
            let part = rules::limited(pipeline, culprit, count);
            self.program(&part, Some(culprit.number))
        });
        Ok(number.checked_sub(1).and_then(|rule| rules.get(rule)).map(ToString::to_string))
    }

    /// The least count with which programs are wrong that are right with 0 and wrong with `all`.
    fn halve(&self, all: usize, program: impl Fn(usize) -> Result<Program, Diagnostics>) -> usize {
        let verdicts = all.max(1).ilog2() as usize + 1;
        let (mut good, mut bad) = (0, all);
        while bad - good > 1 {
            let middle = good.midpoint(bad);
            let rows = program(middle).and_then(|program| self.rows(program, verdicts));
            let wrong = rows.map_or(true, |rows| rows.iter().any(VerifyRow::is_wrong));
            if wrong { bad = middle } else { good = middle }
        }
        bad
    }

    /// Verifies what a pipeline makes with its first optimization, with its first two, and so on, each completed by the
    /// required passes, and stops at the first that is wrong. Where a reference is not finite none is verified. `progress` hears how many have been verified and how many
    /// there are.
    ///
    /// # Errors
    /// As [`Session::verify`]. A result that XLA cannot compute is one that is wrong.
    pub fn each_pass(
        &self,
        pipeline: &Pipeline,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<EachPassReport, Diagnostics> {
        let names = self.whole(pipeline)?.names();
        let mut report = EachPassReport {
            scaled: self.scaled.clone(),
            optimizations: names.len(),
            not_finite: self.not_finite(),
            ..<_>::default()
        };
        if !report.not_finite.is_empty() {
            return Ok(report);
        }
        for number in 1..=names.len() {
            progress(number - 1, names.len());
            let program = self.program(pipeline, Some(number))?;
            let Some(pass) = program.optimizations().nth(number - 1) else {
                let message = format!("the optimizations before number {number} depend on those after it");
                return Err(Diagnostic::bug(message).into());
            };
            if pass.changed == halite_passes::Changed::No {
                continue;
            }
            let (pass, insts) = (pass.name.to_string(), pass.insts);
            let application = each_pass::application(&names, number);
            let row = PassRow::new(number, pass, application, insts, self.rows(program, names.len()));
            report.culprit = row.is_wrong().then(|| culprit(&names, number)).flatten();
            report.rows.push(row);
            if report.culprit.is_some() {
                break;
            }
        }
        Ok(report)
    }

    /// The program that a bundle would hold, which the target must take.
    fn whole(&self, pipeline: &Pipeline) -> Result<Program, Diagnostics> {
        self.program(pipeline, None)?.legal(&self.source)
    }

    pub(super) fn program(&self, pipeline: &Pipeline, limit: Option<usize>) -> Result<Program, Diagnostics> {
        Program::compile(self.session, &self.source, self.options.role, pipeline, limit)
    }

    /// Runs a program and judges each of its results, in one of several verdicts.
    pub(super) fn rows(&self, program: Program, verdicts: usize) -> Result<Vec<VerifyRow>, Diagnostics> {
        self.judge(&Loaded::new(program, self.executor)?, self.options.seed, verdicts)
    }

    fn judge(&self, candidate: &Loaded, seed: u64, verdicts: usize) -> Result<Vec<VerifyRow>, Diagnostics> {
        let mut names = Vec::new();
        let judged = verdict::judge(verdicts, |number| {
            let residuals;
            (names, residuals) = self.residuals_in(number, seed, candidate)?.into_iter().unzip();
            Ok::<_, Diagnostics>(residuals)
        })?;
        Ok(names.into_iter().zip(judged).map(|(name, judged)| VerifyRow::new(name, &judged)).collect())
    }

    /// The errors of each result of a pipeline, by its name, in draws of inputs from the first on.
    ///
    /// # Errors
    /// As [`Session::verify`].
    pub fn residuals(&self, pipeline: &Pipeline, draws: u64) -> Result<Vec<Vec<(String, Residual)>>, Diagnostics> {
        let candidate = Loaded::new(self.whole(pipeline)?, self.executor)?;
        (0..draws).map(|number| self.residuals_in(number, self.options.seed, &candidate)).collect()
    }

    /// The errors of a program in one of the draws of a seed.
    fn residuals_in(&self, number: u64, seed: u64, candidate: &Loaded) -> Result<Vec<(String, Residual)>, Diagnostics> {
        let inputs = match number {
            0 => seed,
            _ => Stream::new(seed, "draws of verification").bits(number),
        };
        let made;
        let draw = if inputs == self.first.seed {
            &self.first
        } else {
            made = Draw::new(inputs, &self.truth, &self.unoptimized, self.executor, &self.source)?;
            &made
        };
        let outputs = candidate.run(self.executor, &self.source, draw.seed)?;
        let residual = |(name, output): (String, Output)| {
            let residual = self.residual(draw, &name, &output)?;
            Ok::<_, Diagnostics>((name, residual))
        };
        outputs.into_iter().map(residual).collect()
    }

    fn residual(&self, draw: &Draw, name: &str, output: &Output) -> Result<Residual, Diagnostic> {
        let missing = || Diagnostic::bug(format!("the unoptimized program has no result `{name}`"));
        let plain = draw.unoptimized.get(name).ok_or_else(missing)?;
        let truth = &draw.truth_of(name).ok_or_else(missing)?.change;
        let error = difference(&output.change, truth);
        let unoptimized = difference(&plain.change, truth);
        let size = plain.written.f64s().iter().fold(0.0, |size: f64, value| size.max(value.abs()));
        let roundoff = plain.written.dtype().unit_roundoff() * size + self.rounding_noise() * error.scale;
        let judged = truth.f64s().iter().chain(&plain.change.f64s()).all(|value| value.is_finite());
        let relative = |value: f64| if error.scale > 0.0 { value / error.scale } else { value };
        Ok(Residual {
            optimized: relative(error.max_abs),
            unoptimized: if judged { relative(unoptimized.max_abs) } else { f64::NAN },
            roundoff: relative(roundoff),
        })
    }

    /// What rounding at other places, in another order or with other random bits changes, at the scale of the change: a unit
    /// of roundoff of what matmuls read, where that is less than what they compute in.
    fn rounding_noise(&self) -> f64 {
        match self.source.recipe.precision.operand {
            DType::F64 => F64_ROUNDOFF,
            operand if operand.is_narrow() => operand.unit_roundoff(),
            _ => 0.0,
        }
    }
}

impl Draw {
    fn new(
        seed: u64,
        truth: &Loaded,
        unoptimized: &Loaded,
        executor: &dyn Executor,
        source: &Source,
    ) -> Result<Self, Diagnostics> {
        let run = |program: &Loaded| program.run(executor, source, seed);
        Ok(Self { seed, truth: run(truth)?, unoptimized: run(unoptimized)? })
    }

    /// The result in `f64` to compare a result with: that of its name, or, for a wider copy of a weight, the weight's.
    fn truth_of(&self, name: &str) -> Option<&Output> {
        self.truth.get(name).or_else(|| self.truth.get(name.strip_prefix("master.")?))
    }
}

/// Optimization `number` of a pipeline, counted from 1.
fn culprit(names: &[Name], number: usize) -> Option<Culprit> {
    let pass = names.get(number.checked_sub(1)?)?.to_string();
    Some(Culprit { pass, number, application: each_pass::application(names, number), rule: None })
}
