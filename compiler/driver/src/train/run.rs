//! The training loop.

use super::programs::{Programs, check_corpus};
use super::state::check_state;
use super::update::Run;
use super::{Corpus, EvalRecord, History, StepRecord, plot};
use crate::bundle::Bundle;
use crate::convert::pack_given;
use crate::tensors;
use crate::{files, init};
use halite_runtime::Executor;
use halite_support::{CancelToken, Diagnostic, Diagnostics, Result, codes};
use std::path::PathBuf;
use std::sync::Arc;

/// How to train.
#[derive(Clone, Debug, Default)]
pub struct TrainOptions {
    /// What the plot is called.
    pub title: String,
    /// Completed updates at the end, those before a resumption included.
    pub steps: u64,
    /// Seed of the initial state and of the order of data.
    pub seed: u64,
    /// What the run starts from.
    pub start: Start,
    /// Updates between evaluations; 0 evaluates at the start and the end only.
    pub eval_every: u64,
    /// The most batches of one evaluation.
    pub eval_batches: usize,
    /// Stops the run between updates; metrics, plot and state are then written, so that it can be resumed.
    pub cancel: CancelToken,
}

/// What a run starts from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Start {
    /// The initial state of the seed.
    #[default]
    Seed,
    /// These weights, as [`state_from_checkpoint`](init::state_from_checkpoint) reads them, with a new optimizer.
    Weights(PathBuf),
    /// The state in this file, in which an earlier run ended.
    State(PathBuf),
}

/// Hears how a run goes. Every method has a default that does nothing.
pub trait Observer {
    /// The modules are compiled and the state is on the device; the run starts after this update.
    fn started(&mut self, _step: u64) {}

    /// An update was made.
    fn stepped(&mut self, _record: &StepRecord) {}

    /// The held-out text was evaluated.
    fn evaluated(&mut self, _record: &EvalRecord) {}
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// The folder of a run: `metrics.jsonl`, `loss.svg`, `state.safetensors`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunFiles {
    folder: PathBuf,
}

impl RunFiles {
    /// The files in this folder, which is made when something is written.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The metrics.
    pub fn metrics(&self) -> PathBuf {
        self.folder.join("metrics.jsonl")
    }

    /// The plot of the loss.
    pub fn plot(&self) -> PathBuf {
        self.folder.join("loss.svg")
    }

    /// The last state.
    pub fn state(&self) -> PathBuf {
        self.folder.join("state.safetensors")
    }

    /// What the folder holds of a run up to `step`; nothing at step 0 or when there is no file.
    fn history(&self, step: u64) -> Result<History> {
        let path = self.metrics();
        if step == 0 || !path.is_file() {
            return Ok(History::default());
        }
        let mut history = History::parse(&files::read_text(&path)?, &path)?;
        history.truncate(step);
        Ok(history)
    }

    fn write(&self, title: &str, history: &History) -> Result<()> {
        files::write(&self.metrics(), history.to_json_lines().as_bytes())?;
        files::write(&self.plot(), plot(title, history)?.as_bytes())
    }
}

/// Trains a bundle on a corpus, and leaves metrics, plot and final state in the folder. Metrics and plot are also written at
/// each evaluation, so that an interrupted run leaves something to look at.
///
/// # Errors
/// When the bundle lacks a training step on bytes, the text is too short, state or weights do not fit, a file cannot be
/// written, the executor fails, the loss is no longer finite, or the run is cancelled.
pub fn train(
    executor: Arc<dyn Executor>,
    bundle: &Bundle,
    corpus: &Corpus,
    options: &TrainOptions,
    output: &RunFiles,
    observer: &mut dyn Observer,
) -> std::result::Result<History, Diagnostics> {
    check_corpus(bundle, corpus)?;
    let tensors = match &options.start {
        Start::Seed => init::initial_state(bundle, options.seed)?,
        Start::Weights(path) => init::state_from_checkpoint(&bundle.manifest, path)?,
        Start::State(path) => pack_given(&bundle.manifest, tensors::read(path)?)?,
    };
    // Before anything is compiled.
    check_state(&bundle.manifest, &tensors)?;
    let programs = Programs::load(executor, bundle, corpus, options.eval_batches)?;
    let mut step = programs.step().with_cancel(options.cancel.clone());
    step.set_state(tensors)?;
    let start = step.completed();
    let mut run = Run::new(&programs, options.seed, step);
    run.history = output.history(start)?;
    observer.started(start);
    let ended = go(&mut run, start, options, output, observer);
    // What was done up to here is kept, also when the run was stopped.
    let is_stopped = matches!(&ended, Err(errors) if errors.iter().all(|error| error.code() == codes::CANCELLED));
    if ended.is_ok() || is_stopped {
        output.write(&options.title, &run.history)?;
        run.step.save_state(&output.state())?;
    }
    ended.map(|()| run.history)
}

/// All updates after `start`.
fn go(
    run: &mut Run<'_>,
    start: u64,
    options: &TrainOptions,
    output: &RunFiles,
    observer: &mut dyn Observer,
) -> std::result::Result<(), Diagnostics> {
    if run.history.evals.last().is_none_or(|eval| eval.step < start) {
        run.evaluate(start, observer)?;
    }
    for step in start + 1..=options.steps {
        run.step(step, observer)?;
        if is_due(step, options.eval_every) || step == options.steps {
            run.evaluate(step, observer)?;
            output.write(&options.title, &run.history)?;
        }
        if !run.is_finite() {
            output.write(&options.title, &run.history)?;
            return Err(diverged(step).into());
        }
    }
    Ok(())
}

fn diverged(step: u64) -> Diagnostic {
    Diagnostic::error(codes::DIVERGED, format!("the loss is not finite after update {step}")).help(
        "lower the learning rate, lengthen the warm-up, or set `clip_norm`; where a narrow type may be the cause, \
         `halite check` names it",
    )
}

/// Whether something that happens every so many updates happens after this one; 0 is never.
pub(crate) fn is_due(step: u64, every: u64) -> bool {
    every > 0 && step.is_multiple_of(every)
}
