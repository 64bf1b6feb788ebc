//! Comparing the optimized program with the unoptimized one on CPU XLA.
//!
//! Both are also compared with the unoptimized program in `f64`: an optimized result may err at most 1.5 times the unoptimized one,
//! plus two units of roundoff at scale, norm-wise. Results above that bound are run on further inputs: [`verdict`] says how many it
//! takes to call a result wrong. Replaced state is compared by what the step added to it, so that a lost term that is small beside the
//! state is seen. A program for another target than CPU XLA is read back from the bytes that its bundle would hold, with the
//! decompositions of its kernels in the place of their calls. Where the optimized program stores several tensors of the model as one,
//! these are compared, each by its name. Where the model chooses among values, programs are compared on the same choices
//! (`choices.rs`). Of a recipe with stages, the programs of the stages run as a bundle of them does, and are compared with the programs of
//! one stage (`stages.rs`).

mod candidate;
mod causality;
mod choices;
mod each_pass;
mod inputs;
mod outputs;
mod program;
mod rules;
mod stages;
mod study;
#[cfg(test)]
mod tests;
pub mod verdict;

pub use causality::{Causality, Leak};
pub use each_pass::{EachPassReport, PassRow};
use halite::Session;
use halite::source::Source;
use halite_bundle::ModuleRole;
use halite_passes::PipelineSpec;
use halite_runtime::Executor;
use halite_support::Diagnostics;
pub use stages::{StagesRun, check_told_apart};
use std::sync::Arc;
pub use study::Study;
pub use verdict::Outcome;
use verdict::{Judged, Residual};

/// Options of a verification.
#[derive(Clone, Debug)]
pub struct VerifyOptions {
    /// The module to verify.
    pub role: ModuleRole,
    /// Keep the model at its full size instead of scaling it down.
    pub full: bool,
    /// Seed of the inputs.
    pub seed: u64,
    /// The pipeline; left out, that of the role.
    pub pipeline: Option<PipelineSpec>,
}

impl Default for VerifyOptions {
    /// The training step, scaled down, by its own pipeline.
    fn default() -> Self {
        Self { role: ModuleRole::TRAIN_STEP, full: false, seed: 0, pipeline: None }
    }
}

/// The result of a verification.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct VerifyReport {
    /// Sizes that a small model has smaller: key, from, to. The latter are equal where the model takes no smaller one.
    pub scaled: Vec<(String, i64, i64)>,
    /// The stages that ran, where the recipe has several.
    pub stages: Option<StagesRun>,
    /// One row for each result.
    pub rows: Vec<VerifyRow>,
    /// Choices that the program would have made otherwise, where programs were compared on the same choices: those of the program in
    /// `f64`. That is done where the model makes choices, and the program with its own choices does not agree or the unoptimized one
    /// chose otherwise too.
    pub choices: Option<ChoiceCounts>,
    /// Whether tokens change what stands before them; `None` where the model shows no values by position,
    /// or reads in both directions.
    pub causality: Option<Causality>,
    /// Warnings of the precision audit.
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
    /// Whether every result is right and no token changes what stands before it.
    pub fn passed(&self) -> bool {
        self.rows.iter().all(VerifyRow::passed) && self.causality.as_ref().is_none_or(Causality::holds)
    }

    /// The results that cannot be judged because the program gives infinities or NaN without optimizations too.
    pub fn not_finite(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().filter(|row| row.outcome == Outcome::NotFinite).map(|row| row.name.as_str())
    }
}

/// The comparison of one result. Errors are against the `f64` program, largest difference over largest magnitude.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct VerifyRow {
    /// The name of the result, or what else is judged.
    pub name: String,
    /// Error of the optimized program in the first draw.
    pub error: f64,
    /// Error of the unoptimized program in the first draw; not a number when that, or `f64`, is not finite.
    pub unoptimized: f64,
    /// Bound of the error in the first draw.
    pub allowed: f64,
    /// How many draws decided: the first, or those that followed when it was above its bound.
    pub draws: u64,
    /// In how many of these the error was above its bound.
    pub above: u64,
    /// The mean error over the mean bound in these.
    pub ratio: f64,
    /// The verdict.
    pub outcome: Outcome,
}

impl VerifyRow {
    fn new(name: String, judged: &Judged) -> Self {
        let Judged { first, draws, above, ratio, outcome } = *judged;
        let Residual { optimized: error, unoptimized, .. } = first;
        Self { name, error, unoptimized, allowed: first.allowed(), draws, above, ratio, outcome }
    }

    /// A row of what one draw decides, because its bound leaves nothing to chance.
    fn within(name: String, error: f64, unoptimized: f64, allowed: f64) -> Self {
        let is_within = error <= allowed;
        let (above, ratio) = (u64::from(!is_within), if error == 0.0 { 0.0 } else { error / allowed });
        let outcome = if is_within { Outcome::Within } else { Outcome::FarAbove };
        Self { name, error, unoptimized, allowed, draws: 1, above, ratio, outcome }
    }

    /// Whether the result is right. One that cannot be judged is not.
    pub fn passed(&self) -> bool {
        self.outcome.is_right()
    }

    /// Whether the result is wrong. One that cannot be judged is not.
    pub fn is_wrong(&self) -> bool {
        self.outcome.is_wrong()
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

/// Verifies one module of a recipe, and that its forward module is causal.
///
/// # Errors
/// When the recipe does not compile, its target does not take the program, or XLA fails; when its stages would have to be given choices or
/// a pipeline.
pub fn verify(
    session: &Session,
    source: &Source,
    options: &VerifyOptions,
    executor: Arc<dyn Executor>,
) -> Result<VerifyReport, Diagnostics> {
    let study = Study::new(session, source, options, executor)?;
    Ok(VerifyReport { causality: study.causality()?, ..study.verify(study.pipeline())? })
}

/// The first optimization after which the results are wrong, and its rule; `None` when they never are, or a reference is
/// not finite.
///
/// # Errors
/// As [`verify`]; when the recipe has several stages.
pub fn bisect(
    session: &Session,
    source: &Source,
    options: &VerifyOptions,
    executor: Arc<dyn Executor>,
) -> Result<Option<Culprit>, Diagnostics> {
    let study = Study::new(session, source, options, executor)?;
    study.bisect(study.pipeline())
}
