//! The training loop.

use super::programs::{Programs, check_corpus};
use super::state::State;
use super::update::Run;
use super::{Corpus, EvalRecord, History, StepRecord, plot};
use crate::bundle::Bundle;
use crate::convert::pack_given;
use crate::tensors::{self, Tensors};
use crate::{files, init};
use halite_runtime::Executor;
use halite_spec::BufferSlot;
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use std::path::{Path, PathBuf};

/// How to train.
#[derive(Clone, PartialEq, Debug)]
pub struct TrainOptions {
    /// What the plot is called.
    pub title: String,
    /// Completed updates at the end, those before a resumption included.
    pub steps: u64,
    /// Seed of the initial state and of the order of data.
    pub seed: u64,
    /// Updates between evaluations; 0 evaluates at the start and the end only.
    pub eval_every: u64,
    /// The most batches of one evaluation.
    pub eval_batches: usize,
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

/// Trains a bundle on a corpus, from its initial state or from the state in the file `resume`, and leaves metrics, plot
/// and final state in the folder. Metrics and plot are also written at each evaluation, so that an interrupted run leaves
/// something to look at.
///
/// # Errors
/// When the bundle lacks a training step on bytes, the text is too short, the state does not fit, a file cannot be
/// written, the executor fails, or the loss is no longer finite.
pub fn train(
    executor: &dyn Executor,
    bundle: &Bundle,
    corpus: &Corpus,
    resume: Option<&Path>,
    options: &TrainOptions,
    output: &RunFiles,
    observer: &mut dyn Observer,
) -> std::result::Result<History, Diagnostics> {
    let one = |error| vec![error];
    check_corpus(bundle, corpus).map_err(one)?;
    let tensors = match resume {
        Some(path) => pack_given(&bundle.manifest, tensors::read(path).map_err(one)?)?,
        None => init::initial_state(bundle, options.seed),
    };
    let state = State::upload(executor, bundle, &tensors)?;
    let start = completed_steps(bundle, &tensors);
    drop(tensors);
    let loop_ = || -> Result<History> {
        let programs = Programs::load(executor, bundle, corpus, options.eval_batches)?;
        let mut run = Run::new(&programs, options.seed, state);
        run.history = output.history(start)?;
        observer.started(start);
        let title = &options.title;
        if run.history.evals.last().is_none_or(|eval| eval.step < start) {
            run.evaluate(start, observer)?;
        }
        for step in start + 1..=options.steps {
            run.step(step, observer)?;
            if is_due(step, options.eval_every) || step == options.steps {
                run.evaluate(step, observer)?;
                output.write(title, &run.history)?;
            }
            if !run.is_finite() {
                output.write(title, &run.history)?;
                return Err(diverged(step));
            }
        }
        output.write(title, &run.history)?;
        tensors::write(&output.state(), &run.state.download()?)?;
        Ok(run.history)
    };
    loop_().map_err(one)
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

fn completed_steps(bundle: &Bundle, state: &Tensors) -> u64 {
    let step = bundle.manifest.buffers.iter().find(|buffer| buffer.slot == BufferSlot::Step);
    let value = step.and_then(|buffer| state[&buffer.name].ints().first().copied());
    value.and_then(|value| u64::try_from(value).ok()).unwrap_or(0)
}
