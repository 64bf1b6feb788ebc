//! The training loop.

use super::data::BatchShape;
use super::state::State;
use super::{Corpus, EvalRecord, History, StepRecord, plot};
use crate::bundle::Bundle;
use crate::execute::LoadedModule;
use crate::tensors::{self, Tensors};
use crate::{files, init};
use halite_runtime::{Buffer, Executor};
use halite_spec::{BufferSlot, ConfigValue, ModuleRole};
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use halite_tensor::{DType, HostTensor};
use indexmap::IndexMap;
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
    let shape = check(bundle, corpus).map_err(one)?;
    let tensors = match resume {
        Some(path) => tensors::read(path).map_err(one)?,
        None => init::initial_state(bundle, options.seed),
    };
    let state = State::upload(executor, bundle, &tensors)?;
    let start = completed_steps(bundle, &tensors);
    drop(tensors);
    let loop_ = || -> Result<History> {
        let mut run = Run::load(executor, bundle, corpus, shape, options, state)?;
        run.history = output.history(start)?;
        observer.started(start);
        let title = &options.title;
        if run.history.evals.last().is_none_or(|eval| eval.step < start) {
            run.evaluate(start, observer)?;
        }
        for step in start + 1..=options.steps {
            run.step(step, observer)?;
            let is_due = options.eval_every > 0 && step.is_multiple_of(options.eval_every);
            if is_due || step == options.steps {
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
    Diagnostic::error(codes::DIVERGED, format!("the loss is not finite after update {step}"))
        .help("lower the learning rate, lengthen the warm-up, or set `clip_norm`")
}

/// Whether a bundle can be trained on a corpus, found without an executor; the shape of a batch.
fn check(bundle: &Bundle, corpus: &Corpus) -> Result<BatchShape> {
    bundle.module_with_role(ModuleRole::TrainStep)?;
    let shape = batch_shape(bundle)?;
    corpus.check(shape)?;
    Ok(shape)
}

/// Checks that a bundle can be trained on a corpus. [`train`] does so too; this needs no executor.
///
/// # Errors
/// When the bundle lacks a training step on bytes or the text is too short.
pub fn check_corpus(bundle: &Bundle, corpus: &Corpus) -> Result<()> {
    check(bundle, corpus).map(|_| ())
}

/// The shape of the one batch input, and whether its tokens can be bytes.
fn batch_shape(bundle: &Bundle) -> Result<BatchShape> {
    let batches: Vec<_> = bundle.manifest.buffers.iter().filter(|buffer| buffer.slot == BufferSlot::Batch).collect();
    let [batch] = batches[..] else {
        let message = format!("the model takes {} batch inputs, training on text feeds one", batches.len());
        return Err(Diagnostic::error(codes::MODULE, message).help("run its modules with `halite run`"));
    };
    let ([rows, width], DType::S32) = (&batch.shape[..], batch.dtype) else {
        let message = format!("the batch `{}` is not `s32[batch, seq + 1]`", batch.name);
        return Err(Diagnostic::error(codes::MODULE, message).help("run its modules with `halite run`"));
    };
    match bundle.manifest.model.config.get("vocab") {
        Some(ConfigValue::Int(vocab)) if *vocab < 256 => {
            let message = format!("the model knows {vocab} tokens, bytes need 256");
            Err(Diagnostic::error(codes::TEXT, message).help("compile with `--set vocab=256`"))
        }
        _ => Ok(BatchShape { rows: *rows, width: *width }),
    }
}

fn completed_steps(bundle: &Bundle, state: &Tensors) -> u64 {
    let step = bundle.manifest.buffers.iter().find(|buffer| buffer.slot == BufferSlot::Step);
    let value = step.and_then(|buffer| state[&buffer.name].ints().first().copied());
    value.and_then(|value| u64::try_from(value).ok()).unwrap_or(0)
}

/// A run under way.
struct Run<'a> {
    executor: &'a dyn Executor,
    corpus: &'a Corpus,
    shape: BatchShape,
    options: &'a TrainOptions,
    train_step: LoadedModule,
    /// Absent when the bundle has none or nothing is held out.
    eval: Option<LoadedModule>,
    /// The batches of an evaluation, on the device.
    held_out: Vec<Buffer>,
    state: State,
    history: History,
}

impl<'a> Run<'a> {
    fn load(
        executor: &'a dyn Executor,
        bundle: &Bundle,
        corpus: &'a Corpus,
        shape: BatchShape,
        options: &'a TrainOptions,
        state: State,
    ) -> Result<Self> {
        let train_step = LoadedModule::load(executor, bundle, bundle.module_with_role(ModuleRole::TrainStep)?)?;
        train_step.output("loss")?;
        let count = corpus.held_out_batches(shape, options.eval_batches);
        let eval = match bundle.module_with_role(ModuleRole::Eval) {
            Ok(entry) if count > 0 => Some(LoadedModule::load(executor, bundle, entry)?),
            _ => None,
        };
        let upload = |index| Ok(executor.upload(&corpus.held_out_batch(shape, index, count), 0)?);
        let held_out = (0..count).map(upload).collect::<Result<_>>()?;
        let history = History::default();
        Ok(Self { executor, corpus, shape, options, train_step, eval, held_out, state, history })
    }

    /// Makes one update; `step` is its number from 1.
    fn step(&mut self, step: u64, observer: &mut dyn Observer) -> Result<()> {
        let batch = self.corpus.batch(self.shape, self.options.seed, step - 1);
        let batch = self.executor.upload(&batch, 0)?;
        let outputs = self.state.run(&self.train_step, batch.as_ref())?;
        let tokens = step * (self.shape.rows * (self.shape.width - 1)) as u64;
        let record = StepRecord { step, tokens, metrics: scalars(&outputs)? };
        observer.stepped(&record);
        self.history.steps.push(record);
        Ok(())
    }

    fn evaluate(&mut self, step: u64, observer: &mut dyn Observer) -> Result<()> {
        let Some(module) = &self.eval else { return Ok(()) };
        let (mut loss, mut count) = (0.0, 0.0);
        for batch in &self.held_out {
            let outputs = scalars(&self.state.run(module, batch.as_ref())?)?;
            loss += outputs.get("loss").copied().unwrap_or(f64::NAN);
            count += outputs.get("count").copied().unwrap_or(f64::NAN);
        }
        let record = EvalRecord { step, held_out_loss: loss / count, held_out_tokens: count as u64 };
        observer.evaluated(&record);
        self.history.evals.push(record);
        Ok(())
    }

    fn is_finite(&self) -> bool {
        self.history.steps.last().is_none_or(|record| record.loss().is_finite())
    }
}

/// Scalar outputs by name.
fn scalars(outputs: &IndexMap<String, Buffer>) -> Result<IndexMap<String, f64>> {
    let scalar = |tensor: HostTensor| tensor.f64s().first().copied().unwrap_or(f64::NAN);
    let scalars = outputs.iter().filter(|(_, buffer)| buffer.spec().shape.rank() == 0);
    scalars.map(|(name, buffer)| Ok((name.clone(), scalar(buffer.download()?)))).collect()
}
