//! Comparing the optimized program with the unoptimized one on CPU XLA.
//!
//! Both are also compared with the unoptimized program in `f64`: an optimized result may err at most 1.5 times the
//! unoptimized one, plus two units of roundoff at scale, norm-wise. Replaced state is compared by what the step added to
//! it, so that a lost term that is small beside the state is seen.

mod inputs;
mod scale;

use crate::compile::{CompileOptions, CompiledModule, locate};
use crate::pipelines;
use crate::session::Session;
use crate::source::Source;
use halite_ir::{Function, ResultRole};
use halite_passes::{Audit, Pipeline, RunnerOptions};
use halite_runtime::{Executor, Program, RuntimeError, evaluate};
use halite_spec::{ModuleRole, PrecisionName, RoundingMode, SrSites};
use halite_support::{Diagnostic, Diagnostics};
use halite_tensor::compare::difference;
use halite_tensor::{DType, HostTensor};

/// How far an optimized result may be from the truth, as a multiple of how far the unoptimized one is.
const ERROR_RATIO: f64 = 1.5;
/// What it may add to that, in units of roundoff at the scale of the result, and of the activations at the scale of the
/// change where every one of these is rounded stochastically.
const ROUNDOFFS: f64 = 2.0;

/// What to verify.
#[derive(Clone, Debug)]
pub struct VerifyOptions {
    /// The module to verify.
    pub role: ModuleRole,
    /// Keep the model at its full size instead of scaling it down.
    pub full: bool,
    /// Seed of the inputs.
    pub seed: u64,
    /// The pipeline, in the syntax of `halite opt --passes`; left out, that of the role.
    pub pipeline: Option<String>,
}

impl Default for VerifyOptions {
    /// The training step, scaled down, by its own pipeline.
    fn default() -> Self {
        Self { role: ModuleRole::TrainStep, full: false, seed: 0, pipeline: None }
    }
}

/// What verification found.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct VerifyReport {
    /// Sizes that were changed to make the model small: key, from, to.
    pub scaled: Vec<(String, i64, i64)>,
    /// One row for each result.
    pub rows: Vec<VerifyRow>,
    /// What the precision audit found.
    #[serde(skip)]
    pub warnings: Diagnostics,
}

impl VerifyReport {
    /// Whether every result is within its tolerance.
    pub fn passed(&self) -> bool {
        self.rows.iter().all(VerifyRow::passed)
    }
}

/// The errors of one result against the `f64` program: largest difference over largest magnitude.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct VerifyRow {
    /// The result.
    pub name: String,
    /// Error of the optimized program.
    pub error: f64,
    /// Error of the unoptimized program.
    pub unoptimized: f64,
    /// Largest error that passes.
    pub allowed: f64,
}

impl VerifyRow {
    /// Whether the result is within its tolerance. A result that is not finite where it is computed without
    /// optimizations cannot be judged and does not pass.
    pub fn passed(&self) -> bool {
        self.error.is_finite() && self.error <= self.allowed
    }
}

/// The first optimization that breaks a program.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Culprit {
    /// The name of the pass.
    pub pass: String,
    /// Its number among the optimizations that ran, from 1: the `--bisect` limit at which results break.
    pub number: usize,
}

impl Session {
    /// Verifies one module of a recipe.
    ///
    /// # Errors
    /// When the recipe does not compile, or XLA fails.
    pub fn verify(
        &self,
        source: &Source,
        options: &VerifyOptions,
        executor: &dyn Executor,
    ) -> Result<VerifyReport, Diagnostics> {
        let study = self.study(source, options, executor)?;
        study.verify(&study.optimized)
    }

    /// Makes the programs that optimized ones of a recipe are compared with.
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    pub fn study<'a>(
        &'a self,
        source: &Source,
        options: &'a VerifyOptions,
        executor: &'a dyn Executor,
    ) -> Result<Study<'a>, Diagnostics> {
        Study::new(self, source, options, executor)
    }

    /// The first optimization after which the results are wrong; `None` when they never are.
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    pub fn bisect(
        &self,
        source: &Source,
        options: &VerifyOptions,
        executor: &dyn Executor,
    ) -> Result<Option<Culprit>, Diagnostics> {
        let study = self.study(source, options, executor)?;
        study.bisect(&study.optimized)
    }
}

/// The programs that optimized ones of a recipe are compared with, compiled and run once.
pub struct Study<'a> {
    session: &'a Session,
    options: &'a VerifyOptions,
    executor: &'a dyn Executor,
    source: Source,
    scaled: Vec<(String, i64, i64)>,
    optimized: Pipeline,
    truth: Run,
    unoptimized: Run,
}

/// One run of one program.
struct Run {
    entry: Function,
    inputs: Vec<HostTensor>,
    results: Vec<HostTensor>,
    /// The optimizations that made it, in order.
    optimizations: Vec<&'static str>,
    audit: Audit,
}

impl std::fmt::Debug for Study<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Study").field("options", &self.options).field("scaled", &self.scaled).finish_non_exhaustive()
    }
}

impl<'a> Study<'a> {
    /// Verifies a pipeline that differs from that of the options in optimizations only.
    ///
    /// # Errors
    /// As [`Session::verify`].
    pub fn verify(&self, pipeline: &Pipeline) -> Result<VerifyReport, Diagnostics> {
        let result = self.run(&self.source, pipeline, None)?;
        let warnings = result.audit.diagnostics().into_iter().map(|finding| locate(&self.source, finding)).collect();
        Ok(VerifyReport { rows: self.compare(&result)?, scaled: self.scaled.clone(), warnings })
    }

    /// The first optimization of a pipeline after which the results are wrong; `None` when they never are.
    ///
    /// # Errors
    /// As [`Session::verify`].
    pub fn bisect(&self, pipeline: &Pipeline) -> Result<Option<Culprit>, Diagnostics> {
        let breaks = |limit: usize| -> Result<(bool, Vec<&'static str>), Diagnostics> {
            let result = self.run(&self.source, pipeline, Some(limit))?;
            Ok((!self.compare(&result)?.iter().all(VerifyRow::passed), result.optimizations))
        };
        let (broken, names) = breaks(usize::MAX)?;
        if !broken {
            return Ok(None);
        }
        let (mut good, mut bad) = (0, names.len());
        while bad - good > 1 {
            let middle = good.midpoint(bad);
            if breaks(middle)?.0 { bad = middle } else { good = middle }
        }
        let pass = names.get(bad.saturating_sub(1)).copied().unwrap_or_default().to_owned();
        Ok(Some(Culprit { pass, number: bad }))
    }

    fn new(
        session: &'a Session,
        source: &Source,
        options: &'a VerifyOptions,
        executor: &'a dyn Executor,
    ) -> Result<Self, Diagnostics> {
        let mut source = source.clone();
        let scaled = if options.full { Vec::new() } else { scale::scale_down(session, &mut source)? };
        let text = options.pipeline.as_deref().unwrap_or_else(|| pipelines::pipeline(options.role));
        let optimized = session.passes.pipeline(text).map_err(|error| vec![error])?;
        let plain = optimized.required_only();
        let mut wide = source.clone();
        wide.recipe.precision = PrecisionName::Fp64.precision();
        let truth = run(session, options, executor, &wide, &plain, None)?;
        let unoptimized = run(session, options, executor, &source, &plain, None)?;
        Ok(Self { session, options, executor, source, scaled, optimized, truth, unoptimized })
    }

    fn run(&self, source: &Source, pipeline: &Pipeline, limit: Option<usize>) -> Result<Run, Diagnostics> {
        run(self.session, self.options, self.executor, source, pipeline, limit)
    }

    fn compare(&self, result: &Run) -> Result<Vec<VerifyRow>, Diagnostics> {
        let row = |index: usize| {
            let (truth, plain) = (self.truth.change(self.truth_of(index)?), self.unoptimized.change(index));
            let error = difference(&result.change(index), &truth);
            let unoptimized = difference(&plain, &truth);
            let written = &self.unoptimized.results[index];
            let size = written.f64s().iter().fold(0.0, |size: f64, value| size.max(value.abs()));
            let noise = self.rounding_noise() * error.scale;
            let allowed =
                ERROR_RATIO * unoptimized.max_abs + ROUNDOFFS * (written.dtype().unit_roundoff() * size + noise);
            let judged = truth.f64s().iter().chain(&plain.f64s()).all(|value| value.is_finite());
            let relative = |value: f64| if error.scale > 0.0 { value / error.scale } else { value };
            Ok(VerifyRow {
                name: result.entry.results[index].name.to_string(),
                error: relative(error.max_abs),
                unoptimized: relative(unoptimized.max_abs),
                allowed: if judged { relative(allowed) } else { f64::NAN },
            })
        };
        (0..result.results.len()).map(row).collect()
    }

    /// The result in `f64` to compare a result with: that of its name, or, for a wider copy of a weight, the weight's.
    fn truth_of(&self, index: usize) -> Result<usize, Diagnostics> {
        let name = &self.unoptimized.entry.results[index].name;
        let position = |name: &str| self.truth.entry.results.iter().position(|result| *result.name == *name);
        let weight = || name.strip_prefix("master.").and_then(position);
        let missing = || vec![Diagnostic::bug(format!("the program in `f64` has no result `{name}`"))];
        position(name).or_else(weight).ok_or_else(missing)
    }

    /// What stochastic rounding of every activation adds: the optimized program has other sites, and so other random bits.
    fn rounding_noise(&self) -> f64 {
        let precision = &self.source.recipe.precision;
        let everywhere = precision.rounding == RoundingMode::Sr && precision.sr.sites == SrSites::All;
        if everywhere { precision.operand.unit_roundoff() } else { 0.0 }
    }
}

impl Run {
    /// A result, less the parameter that it replaces, in `f64`.
    fn change(&self, index: usize) -> HostTensor {
        let result = &self.results[index];
        let mut values = result.f64s();
        if let ResultRole::State(name) = &self.entry.results[index].role
            && let Some(replaced) = self.entry.params.iter().position(|param| param.name == *name)
        {
            values.iter_mut().zip(self.inputs[replaced].f64s()).for_each(|(value, old)| *value -= old);
        }
        HostTensor::from_f64s(DType::F64, result.shape().clone(), values)
    }
}

fn run(
    session: &Session,
    options: &VerifyOptions,
    executor: &dyn Executor,
    source: &Source,
    pipeline: &Pipeline,
    limit: Option<usize>,
) -> Result<Run, Diagnostics> {
    let elaborated = session.elaborate(source)?;
    let compile =
        CompileOptions { runner: RunnerOptions { limit, ..RunnerOptions::default() }, ..CompileOptions::default() };
    let compiled = session.compile_role(&elaborated.module, &source.recipe, options.role, pipeline, &compile);
    let CompiledModule { ir, hlo, reports, audit, .. } = compiled.map_err(|error| vec![error])?;
    let missing = || vec![Diagnostic::bug("a compiled module without an entry")];
    let entry = ir.functions.into_iter().next_back().ok_or_else(missing)?;
    let inputs = inputs::inputs(&entry, source, &elaborated.config, options.seed);
    let run = || -> Result<Vec<HostTensor>, RuntimeError> {
        let bytes = halite_hlo::encode(&hlo);
        let executable = executor.compile(&Program::new(&bytes, halite_runtime::CompileOptions::default())?)?;
        evaluate(executor, executable.as_ref(), &inputs)
    };
    let results = run().map_err(|error| vec![Diagnostic::from(error)])?;
    let optimizations = reports.iter().filter(|report| report.optimization).map(|report| report.name).collect();
    Ok(Run { entry, inputs, results, optimizations, audit })
}
