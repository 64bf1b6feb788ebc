//! A recipe under study: the programs that optimized ones are compared with.

use super::candidate::Candidate;
use super::causality::{self, Causality, Positions};
use super::choices::{Choices, Form};
use super::each_pass::{self, EachPassReport, PassRow};
use super::outputs::{Output, Outputs};
use super::program::{Loaded, Program};
use super::stages::{Stages, are_several, check_one_stage, check_role, check_told_apart, on_one};
use super::verdict::{self, Residual};
use super::{ChoiceCounts, Culprit, VerifyOptions, VerifyReport, VerifyRow, rules};
use halite::Session;
use halite::compile::locate;
use halite::source::Source;
use halite_bundle::{ModuleRole, Stream};
use halite_passes::Pipeline;
use halite_recipe::{PrecisionName, TargetName};
use halite_runtime::Executor;
use halite_support::{Diagnostic, Diagnostics, Name};
use halite_tensor::compare::difference;
use halite_tensor::{DType, HostTensor};
use indexmap::IndexMap;
use std::ops::Range;
use std::sync::Arc;

/// The unit of roundoff of programs in `f64`. Such a program is its own reference, and sums of many elements in another order differ
/// by more than one roundoff. Twice this is the 1e-12 to which `f64` programs are held.
const F64_ROUNDOFF: f64 = 0.5e-12;

/// The programs that optimized ones of a recipe are compared with, compiled once and run on one draw of inputs.
pub struct Study<'a> {
    session: &'a Session,
    options: &'a VerifyOptions,
    executor: Arc<dyn Executor>,
    source: Source,
    scaled: Vec<(String, i64, i64)>,
    optimized: Pipeline,
    choices: Arc<Choices>,
    /// Whether programs are given the choices of the one in `f64`, and do not choose themselves.
    same_choices: bool,
    truth: Arc<Loaded>,
    unoptimized: Loaded,
    first: Draw,
}

/// Inputs, and the outputs of the programs without optimizations.
struct Draw {
    seed: u64,
    /// The choices that are passed to programs; empty where they choose themselves.
    given: IndexMap<String, HostTensor>,
    truth: Outputs,
    unoptimized: Outputs,
}

impl std::fmt::Debug for Study<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Study").field("options", &self.options).field("scaled", &self.scaled).finish_non_exhaustive()
    }
}

impl<'a> Study<'a> {
    /// Makes the programs that optimized ones of a recipe are compared with.
    ///
    /// # Errors
    /// As [`verify`](crate::verify).
    pub fn new(
        session: &'a Session,
        source: &Source,
        options: &'a VerifyOptions,
        executor: Arc<dyn Executor>,
    ) -> Result<Self, Diagnostics> {
        let mut source = source.clone();
        let scaled = if options.full { Vec::new() } else { session.scale_down(&mut source)? };
        let optimized = match &options.pipeline {
            Some(own) => {
                check_one_stage(&source, "another pipeline of passes is not verified")?;
                session.passes.pipeline(own)?
            }
            None => session.pipeline(&options.role)?,
        };
        if are_several(&source) {
            check_role(session, &source, &options.role)?;
        }
        let plain = optimized.required_only();
        let mut reference = on_one(&source);
        reference.recipe.target = TargetName::default();
        let mut wide = reference.clone();
        // What the types ask for stays, so that both have the same state.
        wide.recipe.loss_scale = Some(source.recipe.scale_of_loss());
        wide.recipe.precision = PrecisionName::Fp64.precision();
        let choices = Arc::new(Choices::of(&session.elaborate(&wide)?.module));
        let form = if choices.is_empty() { Form::AsWritten } else { Form::Showing };
        let load = |source: &Source| {
            Loaded::new(Program::compile(session, source, &options.role, &plain, None, form)?, &*executor)
        };
        let (truth, unoptimized) = (Arc::new(load(&wide)?), load(&reference)?);
        let first = Draw::new(options.seed, &truth, &unoptimized, &*executor, &source, None)?;
        let same_choices = false;
        Ok(Self {
            session,
            options,
            executor,
            source,
            scaled,
            optimized,
            choices,
            same_choices,
            truth,
            unoptimized,
            first,
        })
    }

    /// The same study of programs that all choose as the one in `f64` does.
    fn on_same_choices(&self) -> Result<Self, Diagnostics> {
        check_one_stage(&self.source, "choices that differ are not compared")?;
        let Self { session, options, .. } = *self;
        let executor = self.executor.clone();
        let mut source = self.source.clone();
        source.recipe.target = TargetName::default();
        let plain = self.optimized.required_only();
        let program = Program::compile(session, &source, &options.role, &plain, None, Form::GivenShowing)?;
        let (truth, unoptimized) = (self.truth.clone(), Loaded::new(program, &*executor)?);
        let choices = self.choices.clone();
        let first = Draw::new(options.seed, &truth, &unoptimized, &*executor, &source, Some(&choices))?;
        Ok(Self {
            session,
            options,
            executor,
            source: self.source.clone(),
            scaled: self.scaled.clone(),
            optimized: self.optimized.clone(),
            choices,
            same_choices: true,
            truth,
            unoptimized,
            first,
        })
    }

    /// Whether the programs choose, each for itself.
    fn chooses(&self) -> bool {
        !self.same_choices && !self.choices.is_empty()
    }

    /// The pipeline of the options.
    pub fn pipeline(&self) -> &Pipeline {
        &self.optimized
    }

    /// Verifies a pipeline that differs from that of the options in optimizations only. Causality is not looked at.
    ///
    /// # Errors
    /// As [`verify`](crate::verify).
    pub fn verify(&self, pipeline: &Pipeline) -> Result<VerifyReport, Diagnostics> {
        let mut candidate = self.candidate(pipeline)?;
        let findings = candidate.audit().diagnostics().into_iter();
        let warnings = findings.map(|finding| locate(&self.source, finding)).collect();
        let (rows, choices) = self.judge(&mut candidate, self.options.seed, 1)?;
        let agrees = rows.iter().all(VerifyRow::passed);
        if self.chooses() && !(agrees && self.choices.agree(&self.first.truth, &self.first.unoptimized)?) {
            return Ok(VerifyReport { warnings, ..self.on_same_choices()?.verify(pipeline)? });
        }
        let (scaled, stages) = (self.scaled.clone(), candidate.stages());
        Ok(VerifyReport { scaled, stages, rows, choices, causality: None, warnings })
    }

    /// The rows of [`verify`](Self::verify) for each of some seeds in the place of that of the options; the pipeline is
    /// compiled once.
    ///
    /// # Errors
    /// As [`verify`](crate::verify).
    pub fn verify_seeds(&self, pipeline: &Pipeline, seeds: Range<u64>) -> Result<Vec<Vec<VerifyRow>>, Diagnostics> {
        let mut candidate = self.candidate(pipeline)?;
        seeds.map(|seed| Ok(self.judge(&mut candidate, seed, 1)?.0)).collect()
    }

    /// Whether tokens change what stands before them in the forward module; its pipeline is that of the options when these
    /// are about that module.
    ///
    /// # Errors
    /// As [`verify`](crate::verify).
    pub fn causality(&self) -> Result<Option<Causality>, Diagnostics> {
        let forward = match self.options.role == ModuleRole::FORWARD {
            true => self.optimized.clone(),
            false => self.session.pipeline(&ModuleRole::FORWARD)?,
        };
        let (several, one) = (are_several(&self.source), on_one(&self.source));
        // Of stages, a program on one says what goes in and comes out.
        let forward = if several { forward.required_only() } else { forward };
        let role = &ModuleRole::FORWARD;
        let program = Program::compile(self.session, &one, role, &forward, None, Form::AsWritten)?;
        let program = if several { program } else { program.legal(&self.source)? };
        let Some(positions) = Positions::of(&program, &self.source) else { return Ok(None) };
        let (whom, seed, executor) = ((&program, &self.source), self.options.seed, &*self.executor);
        if several {
            let mut stages = Stages::load(self.session, &self.source, role, self.executor.clone())?;
            let names = || program.entry.results.iter().map(|result| &*result.name);
            let run = |inputs: &[HostTensor]| {
                let outputs = stages.run(&program.tensors_in(inputs.to_vec())?, names())?;
                Ok(outputs.into_values().map(|output| output.written).collect())
            };
            return causality::confirm(positions, whom, seed, run).map(Some);
        }
        let executable = program.load(executor)?;
        let run = |inputs: &[HostTensor]| program.evaluate(executor, executable.as_ref(), inputs);
        causality::confirm(positions, whom, seed, run).map(Some)
    }

    /// The results whose reference is not finite, so that they cannot be judged and no optimization can be blamed.
    pub fn not_finite(&self) -> Vec<String> {
        let is_finite = |output: &Output| output.change.f64s().into_iter().all(f64::is_finite);
        let is_judged = |name: &str, plain| is_finite(plain) && self.first.truth_of(name).is_none_or(is_finite);
        let outputs = self.first.unoptimized.iter().filter(|(name, _)| !self.choices.own(name));
        outputs.filter(|(name, plain)| !is_judged(name, plain)).map(|(name, _)| name.clone()).collect()
    }

    /// The first optimization of a pipeline after which the results are wrong, and its rule, found by halving; `None` when
    /// they never are, or a reference is not finite.
    ///
    /// # Errors
    /// As [`verify`](crate::verify).
    pub fn bisect(&self, pipeline: &Pipeline) -> Result<Option<Culprit>, Diagnostics> {
        check_told_apart(&self.source)?;
        if self.chooses() {
            return self.on_same_choices()?.bisect(pipeline);
        }
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
    /// As [`verify`](crate::verify).
    pub fn rule(&self, pipeline: &Pipeline, culprit: &Culprit) -> Result<Option<String>, Diagnostics> {
        check_told_apart(&self.source)?;
        if self.chooses() {
            return self.on_same_choices()?.rule(pipeline, culprit);
        }
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
    /// required passes, and stops at the first that is wrong. Where a reference is not finite none is verified. `progress` hears
    /// how many have been verified and how many there are.
    ///
    /// # Errors
    /// As [`verify`](crate::verify). A result that XLA cannot compute is one that is wrong.
    pub fn each_pass(
        &self,
        pipeline: &Pipeline,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<EachPassReport, Diagnostics> {
        check_told_apart(&self.source)?;
        if self.chooses() {
            return self.on_same_choices()?.each_pass(pipeline, progress);
        }
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

    /// The programs that a pipeline makes, to be run; those of stages are made by the pipelines of the session.
    fn candidate(&self, pipeline: &Pipeline) -> Result<Candidate, Diagnostics> {
        if !are_several(&self.source) {
            return Ok(Candidate::Whole(Box::new(Loaded::new(self.whole(pipeline)?, &*self.executor)?)));
        }
        if !pipeline.passes().map(Arc::as_ptr).eq(self.optimized.passes().map(Arc::as_ptr)) {
            check_one_stage(&self.source, "another pipeline of passes is not verified")?;
        }
        let stages = Stages::load(self.session, &self.source, &self.options.role, self.executor.clone())?;
        Ok(Candidate::Stages(Box::new(stages)))
    }

    /// Runs what is verified on a draw.
    fn run(&self, candidate: &mut Candidate, draw: &Draw) -> Result<Outputs, Diagnostics> {
        match candidate {
            Candidate::Whole(loaded) => loaded.run(&*self.executor, &self.source, draw.seed, &draw.given),
            Candidate::Stages(stages) => {
                let one = &self.unoptimized.program;
                // State that no update replaces is not looked at.
                let wanted = draw.unoptimized.keys().filter(|name| !self.choices.own(name)).map(String::as_str);
                stages.run(&one.tensors_in(one.inputs(&self.source, draw.seed)?)?, wanted)
            }
        }
    }

    /// The program that a bundle would hold, which the target must take; one that is given its choices stays here.
    fn whole(&self, pipeline: &Pipeline) -> Result<Program, Diagnostics> {
        let program = self.program(pipeline, None)?;
        if self.same_choices { Ok(program) } else { program.legal(&self.source) }
    }

    pub(super) fn program(&self, pipeline: &Pipeline, limit: Option<usize>) -> Result<Program, Diagnostics> {
        let form = if self.same_choices { Form::Given } else { Form::AsWritten };
        Program::compile(self.session, &self.source, &self.options.role, pipeline, limit, form)
    }

    /// Runs a program and judges each of its results, in one of several verdicts.
    pub(super) fn rows(&self, program: Program, verdicts: usize) -> Result<Vec<VerifyRow>, Diagnostics> {
        let mut candidate = Candidate::Whole(Box::new(Loaded::new(program, &*self.executor)?));
        Ok(self.judge(&mut candidate, self.options.seed, verdicts)?.0)
    }

    /// A row for each result; and for each place that chooses, with the numbers of choices, where programs are given them.
    fn judge(
        &self,
        candidate: &mut Candidate,
        seed: u64,
        verdicts: usize,
    ) -> Result<(Vec<VerifyRow>, Option<ChoiceCounts>), Diagnostics> {
        let mut names = Vec::new();
        let judged = verdict::judge(verdicts, |number| {
            let residuals;
            (names, residuals) = self.residuals_in(number, seed, candidate)?.into_iter().unzip();
            Ok::<_, Diagnostics>(residuals)
        })?;
        let rows = names.into_iter().zip(judged).map(|(name, judged)| VerifyRow::new(name, &judged));
        if !self.same_choices {
            return Ok((rows.collect(), None));
        }
        let (of_choices, counts) = self.with_draw(0, seed, |draw| {
            let outputs = self.run(candidate, draw)?;
            let noise = |plain: &Output, truth: &Output| self.noise(plain, truth);
            Ok(self.choices.judge([&draw.truth, &draw.unoptimized, &outputs], noise)?)
        })?;
        Ok((rows.chain(of_choices).collect(), Some(counts)))
    }

    /// The errors of each result of a pipeline, by its name, in draws of inputs from the first on.
    ///
    /// # Errors
    /// As [`verify`](crate::verify).
    pub fn residuals(&self, pipeline: &Pipeline, draws: u64) -> Result<Vec<Vec<(String, Residual)>>, Diagnostics> {
        let mut candidate = self.candidate(pipeline)?;
        (0..draws).map(|number| self.residuals_in(number, self.options.seed, &mut candidate)).collect()
    }

    /// The errors of a program in one of the draws of a seed.
    fn residuals_in(
        &self,
        number: u64,
        seed: u64,
        candidate: &mut Candidate,
    ) -> Result<Vec<(String, Residual)>, Diagnostics> {
        self.with_draw(number, seed, |draw| {
            let outputs = self.run(candidate, draw)?;
            let residual = |(name, output): (String, Output)| {
                let residual = self.residual(draw, &name, &output)?;
                Ok((name, residual))
            };
            outputs.into_iter().filter(|(name, _)| !self.choices.own(name)).map(residual).collect()
        })
    }

    /// Does something with one of the draws of a seed.
    fn with_draw<T>(
        &self,
        number: u64,
        seed: u64,
        act: impl FnOnce(&Draw) -> Result<T, Diagnostics>,
    ) -> Result<T, Diagnostics> {
        let inputs = match number {
            0 => seed,
            _ => Stream::new(seed, "draws of verification").bits(number),
        };
        if inputs == self.first.seed {
            return act(&self.first);
        }
        let choices = self.same_choices.then_some(&*self.choices);
        act(&Draw::new(inputs, &self.truth, &self.unoptimized, &*self.executor, &self.source, choices)?)
    }

    fn residual(&self, draw: &Draw, name: &str, output: &Output) -> Result<Residual, Diagnostic> {
        let missing = || Diagnostic::bug(format!("the unoptimized program has no result `{name}`"));
        let plain = draw.unoptimized.get(name).ok_or_else(missing)?;
        let truth = &draw.truth_of(name).ok_or_else(missing)?.change;
        let error = difference(&output.change, truth);
        let unoptimized = difference(&plain.change, truth);
        let judged = truth.f64s().iter().chain(&plain.change.f64s()).all(|value| value.is_finite());
        let relative = |value: f64| if error.scale > 0.0 { value / error.scale } else { value };
        Ok(Residual {
            optimized: relative(error.max_abs),
            unoptimized: if judged { relative(unoptimized.max_abs) } else { f64::NAN },
            roundoff: relative(self.roundoff(plain, error.scale)),
        })
    }

    /// A unit of roundoff of a result, and of what matmuls read at the scale of what the step adds.
    fn roundoff(&self, plain: &Output, scale: f64) -> f64 {
        let values = plain.written.f64s().into_iter().filter(|value| value.is_finite());
        let size = values.fold(0.0, |size: f64, value| size.max(value.abs()));
        plain.written.dtype().unit_roundoff() * size + self.rounding_noise() * scale
    }

    /// The error that rounding may cause in the values that are chosen among.
    fn noise(&self, plain: &Output, truth: &Output) -> f64 {
        let unoptimized = difference(&plain.change, &truth.change);
        let roundoff = self.roundoff(plain, unoptimized.scale);
        Residual { optimized: 0.0, unoptimized: unoptimized.max_abs, roundoff }.allowed()
    }

    /// The relative error due to rounding at other places, in another order or with other random bits, at the scale of the change: a
    /// unit of roundoff of matmul operands, where these are narrower than the type of the computation.
    fn rounding_noise(&self) -> f64 {
        match self.source.recipe.precision.operand {
            DType::F64 => F64_ROUNDOFF,
            operand if operand.is_narrow() => operand.unit_roundoff(),
            _ => 0.0,
        }
    }
}

impl Draw {
    /// Runs the programs without optimizations; all choose as the one in `f64` does where choices are said.
    fn new(
        seed: u64,
        truth: &Loaded,
        unoptimized: &Loaded,
        executor: &dyn Executor,
        source: &Source,
        choices: Option<&Choices>,
    ) -> Result<Self, Diagnostics> {
        let truth = truth.run(executor, source, seed, &IndexMap::new())?;
        let given = choices.map_or_else(|| Ok(IndexMap::new()), |choices| choices.given(&truth))?;
        let unoptimized = unoptimized.run(executor, source, seed, &given)?;
        Ok(Self { seed, given, truth, unoptimized })
    }

    /// The result in `f64` to compare a result with: that of its name, or, for a wider copy of a weight, the weight's.
    fn truth_of(&self, name: &str) -> Option<&Output> {
        self.truth.get(name).or_else(|| self.truth.get(&**self.unoptimized.get(name)?.copy_of.as_ref()?))
    }
}

/// Optimization `number` of a pipeline, counted from 1.
fn culprit(names: &[Name], number: usize) -> Option<Culprit> {
    let pass = names.get(number.checked_sub(1)?)?.to_string();
    Some(Culprit { pass, number, application: each_pass::application(names, number), rule: None })
}
