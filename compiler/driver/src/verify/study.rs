//! A recipe under study: the programs that optimized ones are compared with.

use super::causality::{self, Causality};
use super::choices::{Choices, Form};
use super::each_pass::{self, EachPassReport, PassRow};
use super::program::{Output, Program};
use super::{ChoiceCounts, Culprit, VerifyOptions, VerifyReport, VerifyRow, rules, scale};
use crate::compile::locate;
use crate::session::Session;
use crate::source::Source;
use halite_passes::Pipeline;
use halite_runtime::Executor;
use halite_spec::{ModuleRole, PrecisionName, Target};
use halite_support::{Diagnostic, Diagnostics};
use halite_tensor::compare::{Difference, difference};
use halite_tensor::{DType, HostTensor};
use indexmap::IndexMap;
use std::sync::Arc;

/// How far an optimized result may be from the truth, as a multiple of how far the unoptimized one is.
const ERROR_RATIO: f64 = 1.5;
/// What it may add to that, in units of roundoff: of the result at its scale, and of the operands of matmuls at the scale
/// of the change, because an optimized program rounds at other places and so errs otherwise, not only less or more.
const ROUNDOFFS: f64 = 2.0;

/// What counts as a roundoff where the program itself is in `f64`: it is then its own truth, and sums of many elements in
/// another order differ by more than one. Twice this is the 1e-12 to which `f64` programs are held.
const F64_ROUNDOFF: f64 = 0.5e-12;

/// Results by the names of the model.
type Outputs = IndexMap<String, Output>;

/// The programs that optimized ones of a recipe are compared with, compiled and run once.
pub struct Study<'a> {
    session: &'a Session,
    options: &'a VerifyOptions,
    executor: &'a dyn Executor,
    source: Source,
    scaled: Vec<(String, i64, i64)>,
    optimized: Pipeline,
    choices: Arc<Choices>,
    /// What programs are given to choose; `None` where they choose themselves.
    given: Option<IndexMap<String, HostTensor>>,
    truth: Arc<Outputs>,
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
        let choices = Choices::of(&session.elaborate(&wide)?.module);
        let form = if choices.is_empty() { Form::AsWritten } else { Form::Showing };
        let run = |source: &Source| {
            let program = Program::compile(session, source, options.role, &plain, None, form)?;
            program.run(executor, source, options.seed, &IndexMap::new())
        };
        let (truth, unoptimized) = (Arc::new(run(&wide)?), run(&reference)?);
        let (choices, given) = (Arc::new(choices), None);
        Ok(Self { session, options, executor, source, scaled, optimized, choices, given, truth, unoptimized })
    }

    /// The same study of programs that all choose as the one in `f64` does.
    fn on_same_choices(&self) -> Result<Self, Diagnostics> {
        let given = self.choices.given(&self.truth)?;
        let mut source = self.source.clone();
        source.recipe.target = Target::Cpu;
        let (plain, form) = (self.optimized.required_only(), Form::GivenShowing);
        let program = Program::compile(self.session, &source, self.options.role, &plain, None, form)?;
        Ok(Self {
            source: self.source.clone(),
            scaled: self.scaled.clone(),
            optimized: self.optimized.clone(),
            choices: self.choices.clone(),
            truth: self.truth.clone(),
            unoptimized: program.run(self.executor, &source, self.options.seed, &given)?,
            given: Some(given),
            ..*self
        })
    }

    /// Whether the programs choose, each for itself.
    fn chooses(&self) -> bool {
        self.given.is_none() && !self.choices.is_empty()
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
        let (rows, choices) = self.judge(&program)?;
        let agrees = rows.iter().all(VerifyRow::passed);
        if self.chooses() && !(agrees && self.choices.agree(&self.truth, &self.unoptimized)?) {
            return Ok(VerifyReport { warnings, ..self.on_same_choices()?.verify(pipeline)? });
        }
        Ok(VerifyReport { scaled: self.scaled.clone(), rows, choices, causality: None, warnings })
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
        let program =
            Program::compile(self.session, &self.source, ModuleRole::Forward, &forward, None, Form::AsWritten)?;
        let program = program.legal(&self.source)?;
        causality::confirm(&program, &self.source, self.executor, self.options.seed)
    }

    /// The first optimization of a pipeline after which the results are wrong, and its rule, found by halving; `None` when
    /// they never are.
    ///
    /// # Errors
    /// As [`Session::verify`].
    pub fn bisect(&self, pipeline: &Pipeline) -> Result<Option<Culprit>, Diagnostics> {
        if self.chooses() {
            return self.on_same_choices()?.bisect(pipeline);
        }
        let whole = self.whole(pipeline)?;
        if self.rows(&whole)?.iter().all(VerifyRow::passed) {
            return Ok(None);
        }
        let names: Vec<&str> = whole.optimizations().map(|report| &*report.name).collect();
        let (mut good, mut bad) = (0, names.len());
        while bad - good > 1 {
            let middle = good.midpoint(bad);
            let passed = self.passes(self.program(pipeline, Some(middle)));
            if passed { good = middle } else { bad = middle }
        }
        let Some(culprit) = culprit(&names, bad) else { return Ok(None) };
        let rule = self.rule(pipeline, &culprit)?;
        Ok(Some(Culprit { rule, ..culprit }))
    }

    /// The rule of an optimization at fault, found by halving; `None` when the pass is not made of rules.
    ///
    /// # Errors
    /// As [`Session::verify`].
    pub fn rule(&self, pipeline: &Pipeline, culprit: &Culprit) -> Result<Option<String>, Diagnostics> {
        if self.chooses() {
            return self.on_same_choices()?.rule(pipeline, culprit);
        }
        let Some(rules) = rules::of(pipeline, &culprit.pass) else { return Ok(None) };
        let (mut good, mut bad) = (0, rules.len());
        while bad - good > 1 {
            let middle = good.midpoint(bad);
            let part = rules::limited(pipeline, culprit, middle);
            let passed = self.passes(self.program(&part, Some(culprit.number)));
            if passed { good = middle } else { bad = middle }
        }
        Ok(rules.get(good).map(ToString::to_string))
    }

    /// Verifies what a pipeline makes with its first optimization, with its first two, and so on, each completed by the
    /// required passes, and stops at the first that is wrong. `progress` hears how many have been verified and how many
    /// there are.
    ///
    /// # Errors
    /// As [`Session::verify`]. A result that XLA cannot compute is one that is wrong.
    pub fn each_pass(
        &self,
        pipeline: &Pipeline,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<EachPassReport, Diagnostics> {
        if self.chooses() {
            return self.on_same_choices()?.each_pass(pipeline, progress);
        }
        let whole = self.whole(pipeline)?;
        let names: Vec<&str> = whole.optimizations().map(|report| &*report.name).collect();
        let mut report = EachPassReport { scaled: self.scaled.clone(), optimizations: names.len(), ..<_>::default() };
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
            let row = PassRow::new(number, pass, application, insts, self.rows(&program));
            report.culprit = (!row.passed()).then(|| culprit(&names, number)).flatten();
            report.rows.push(row);
            if report.culprit.is_some() {
                break;
            }
        }
        Ok(report)
    }

    /// The program that a bundle would hold, which the target must take; one that is given its choices stays here.
    fn whole(&self, pipeline: &Pipeline) -> Result<Program, Diagnostics> {
        let program = self.program(pipeline, None)?;
        if self.given.is_some() { Ok(program) } else { program.legal(&self.source) }
    }

    pub(super) fn program(&self, pipeline: &Pipeline, limit: Option<usize>) -> Result<Program, Diagnostics> {
        let form = if self.given.is_some() { Form::Given } else { Form::AsWritten };
        Program::compile(self.session, &self.source, self.options.role, pipeline, limit, form)
    }

    /// Whether a program was compiled, runs and gives right results.
    fn passes(&self, program: Result<Program, Diagnostics>) -> bool {
        program.and_then(|program| self.rows(&program)).is_ok_and(|rows| rows.iter().all(VerifyRow::passed))
    }

    /// Runs a program and compares each of its results.
    pub(super) fn rows(&self, program: &Program) -> Result<Vec<VerifyRow>, Diagnostics> {
        Ok(self.judge(program)?.0)
    }

    /// As [`rows`](Self::rows); with a row for each place that chooses, and the numbers of choices, where programs are given
    /// them.
    fn judge(&self, program: &Program) -> Result<(Vec<VerifyRow>, Option<ChoiceCounts>), Diagnostics> {
        let none = IndexMap::new();
        let given = self.given.as_ref().unwrap_or(&none);
        let outputs = program.run(self.executor, &self.source, self.options.seed, given)?;
        let of_model = outputs.iter().filter(|(name, _)| !self.choices.own(name));
        let rows = of_model.map(|(name, output)| self.compare(name, output)).collect::<Result<Vec<_>, _>>()?;
        if self.given.is_none() {
            return Ok((rows, None));
        }
        let noise = |plain: &Output, truth: &Output| self.noise(plain, truth);
        let (of_choices, counts) = self.choices.judge([&self.truth, &self.unoptimized, &outputs], noise)?;
        Ok((rows.into_iter().chain(of_choices).collect(), Some(counts)))
    }

    fn compare(&self, name: &str, output: &Output) -> Result<VerifyRow, Diagnostic> {
        let missing = || Diagnostic::bug(format!("the unoptimized program has no result `{name}`"));
        let plain = self.unoptimized.get(name).ok_or_else(missing)?;
        let truth = &self.truth_of(name).ok_or_else(missing)?.change;
        let error = difference(&output.change, truth);
        let unoptimized = difference(&plain.change, truth);
        let allowed = self.allowed(plain, unoptimized);
        let judged = truth.f64s().iter().chain(&plain.change.f64s()).all(|value| value.is_finite());
        let relative = |value: f64| if error.scale > 0.0 { value / error.scale } else { value };
        Ok(VerifyRow {
            name: name.to_owned(),
            error: relative(error.max_abs),
            unoptimized: relative(unoptimized.max_abs),
            allowed: if judged { relative(allowed) } else { f64::NAN },
        })
    }

    /// How far a result may be from the truth, from the unoptimized one and its difference.
    fn allowed(&self, plain: &Output, unoptimized: Difference) -> f64 {
        let values = plain.written.f64s().into_iter().filter(|value| value.is_finite());
        let size = values.fold(0.0, |size: f64, value| size.max(value.abs()));
        let noise = self.rounding_noise() * unoptimized.scale;
        let roundoff = plain.written.dtype().unit_roundoff();
        ERROR_RATIO * unoptimized.max_abs + ROUNDOFFS * (roundoff * size + noise)
    }

    /// How far rounding may move what is chosen among.
    fn noise(&self, plain: &Output, truth: &Output) -> f64 {
        self.allowed(plain, difference(&plain.change, &truth.change))
    }

    /// The result in `f64` to compare a result with: that of its name, or, for a wider copy of a weight, the weight's.
    fn truth_of(&self, name: &str) -> Option<&Output> {
        self.truth.get(name).or_else(|| self.truth.get(name.strip_prefix("master.")?))
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

/// Optimization `number` of a pipeline, counted from 1.
fn culprit(names: &[&str], number: usize) -> Option<Culprit> {
    let pass = (*names.get(number.checked_sub(1)?)?).to_owned();
    Some(Culprit { pass, number, application: each_pass::application(names, number), rule: None })
}
