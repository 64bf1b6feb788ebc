//! Comparing the optimized program with the unoptimized one on CPU XLA.
//!
//! Both are also compared with the unoptimized program in `f64`: an optimized result may err at most 1.5 times the
//! unoptimized one, plus two units of roundoff at scale, norm-wise. Replaced state is compared by what the step added to
//! it, so that a lost term that is small beside the state is seen. A program for another target than CPU XLA is read back
//! from the bytes that its bundle would hold, with the twins of its kernels in the place of their calls. Where the optimized program stores several tensors of
//! the model as one, these are compared, each by its name. Where the
//! model chooses among values, programs are compared on the same choices (`choices.rs`).

mod causality;
mod choices;
mod each_pass;
mod inputs;
mod program;
mod rules;
mod scale;
mod study;
#[cfg(test)]
mod tests;

pub use causality::{Causality, Leak};
pub use each_pass::{EachPassReport, PassRow};
pub use study::Study;

use crate::session::Session;
use crate::source::Source;
use halite_runtime::Executor;
use halite_spec::ModuleRole;
use halite_support::Diagnostics;

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
#[non_exhaustive]
pub struct VerifyReport {
    /// Sizes that a small model has smaller: key, from, to. The latter are equal where the model takes no smaller one.
    pub scaled: Vec<(String, i64, i64)>,
    /// One row for each result.
    pub rows: Vec<VerifyRow>,
    /// What the program chose otherwise, where programs were compared on the same choices: those of the one in `f64`. That
    /// is done where the model chooses, and the program as it is does not agree or the unoptimized one chose otherwise too.
    pub choices: Option<ChoiceCounts>,
    /// Whether tokens change what stands before them; `None` where the model shows no values by position.
    pub causality: Option<Causality>,
    /// What the precision audit found.
    #[serde(skip)]
    pub warnings: Diagnostics,
}

/// Choices of a program that was given those of the program in `f64`, and compared with these: elements of the results of
/// `top_k`, `arg_max` and comparisons of floats.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
#[non_exhaustive]
pub struct ChoiceCounts {
    /// All choices.
    pub all: usize,
    /// Those that the program would have made otherwise.
    pub differ: usize,
    /// Those of the latter that rounding does not explain: in `f64`, what was chosen lies too far from what should have been.
    pub wrong: usize,
}

impl VerifyReport {
    /// Whether every result is within its tolerance and no token changes what stands before it.
    pub fn passed(&self) -> bool {
        self.rows.iter().all(VerifyRow::passed) && self.causality.as_ref().is_none_or(Causality::holds)
    }
}

/// The errors of one result against the `f64` program: largest difference over largest magnitude.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
#[non_exhaustive]
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
#[non_exhaustive]
pub struct Culprit {
    /// The name of the pass.
    pub pass: String,
    /// Its number among the optimizations that ran, from 1: the `--bisect` limit at which results break.
    pub number: usize,
    /// Which application of the pass that is, from 1.
    pub application: usize,
    /// The rule of the pass that makes results wrong when it joins those before it, where that was looked for and the pass
    /// is made of rules.
    pub rule: Option<String>,
}

impl Session {
    /// Verifies one module of a recipe, and that its forward module is causal.
    ///
    /// # Errors
    /// When the recipe does not compile, its target does not take the program, or XLA fails.
    pub fn verify(
        &self,
        source: &Source,
        options: &VerifyOptions,
        executor: &dyn Executor,
    ) -> Result<VerifyReport, Diagnostics> {
        let study = self.study(source, options, executor)?;
        Ok(VerifyReport { causality: study.causality()?, ..study.verify(study.pipeline())? })
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

    /// The first optimization after which the results are wrong, and its rule; `None` when they never are.
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
        study.bisect(study.pipeline())
    }
}
