//! A run of training.

use crate::bundle::Bundle;
use crate::errors::{Failure, reported};
use crate::own::{Own, OwnData};
use crate::plugin;
use crate::source::Source;
use crate::wait::Work;
use crate::work;
use halite::support::{Diagnostic, SourceMap, codes};
use halite_data::Data;
use halite_train::{
    Amount, EvalRecord, HeldOutCount, History, Observer, RecipeData, RunFiles, Start, StepRecord, TrainOptions,
    train as train_to_end,
};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// Options of training; the recipe has the value of each that is left out.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    title: String,
    output: PathBuf,
    steps: Option<u64>,
    seed: Option<u64>,
    resume: Option<PathBuf>,
    weights: Option<PathBuf>,
    fresh: bool,
    allow_changes: bool,
    eval_every: Option<u64>,
    eval_batches: Option<usize>,
    checkpoint_every: Option<u64>,
    checkpoint_minutes: Option<u64>,
    keep: Option<u32>,
    keep_every: Option<u64>,
    restarts: Option<u32>,
    rollbacks: Option<u32>,
    samples: Option<u32>,
    compile_seconds: Option<f64>,
    plugin: Option<PathBuf>,
}

impl Options {
    fn of(&self, bundle: &halite::Bundle, output: &RunFiles, work: &Work) -> Result<TrainOptions, Diagnostic> {
        let recipe = &bundle.manifest.recipe;
        let (defaults, mut checkpoint, mut recovery) = (recipe.train, recipe.checkpoint, recipe.recovery);
        checkpoint.every = self.checkpoint_every.unwrap_or(checkpoint.every);
        checkpoint.minutes = self.checkpoint_minutes.unwrap_or(checkpoint.minutes);
        checkpoint.keep = self.keep.unwrap_or(checkpoint.keep);
        checkpoint.keep_every = self.keep_every.unwrap_or(checkpoint.keep_every);
        recovery.restarts = self.restarts.unwrap_or(recovery.restarts);
        recovery.rollbacks = self.rollbacks.unwrap_or(recovery.rollbacks);
        let start = self.start();
        let seed = match self.seed {
            Some(seed) => seed,
            None => start.seed(output)?.unwrap_or(defaults.seed),
        };
        Ok(TrainOptions {
            title: self.title.clone(),
            draw: Some(halite_page::plot::loss),
            page: Some(halite_page::report),
            steps: self.steps.unwrap_or(defaults.steps.into()),
            seed,
            start,
            eval_every: self.eval_every.unwrap_or(defaults.eval_every.into()),
            eval_batches: self.eval_batches.unwrap_or(defaults.eval_batches as usize),
            checkpoint,
            recovery,
            allow_changes: self.allow_changes,
            samples: self.samples,
            compile_seconds: self.compile_seconds,
            cancel: work.cancel.clone(),
            ..TrainOptions::default()
        })
    }

    fn start(&self) -> Start {
        match (&self.resume, &self.weights) {
            (Some(state), _) => Start::State(state.clone()),
            (None, Some(weights)) => Start::Weights(weights.clone()),
            (None, None) if self.fresh => Start::Seed,
            (None, None) => Start::Newest,
        }
    }
}

/// An update: its number, what was seen so far and whether that are tokens, its metrics.
pub(crate) type Update = (u64, u64, bool, Vec<(String, f64)>);

/// An evaluation: the updates before it, what the data are called, their loss, what that is the mean over and whether that are tokens, the
/// metrics of the model.
pub(crate) type Evaluation = (u64, String, f64, u64, bool, Vec<(String, f64)>);

fn update(record: &StepRecord) -> Update {
    (record.step, record.seen.number(), record.seen.is_of_tokens(), pairs(&record.metrics))
}

fn evaluation(record: &EvalRecord) -> Evaluation {
    let EvalRecord { step, data, held_out_loss, counted, metrics } = record;
    (*step, data.clone(), *held_out_loss, counted.number(), counted.is_of_tokens(), pairs(metrics))
}

/// The history of updates and evaluations, as [`measured`] tells them.
pub(crate) fn history(updates: Vec<Update>, evaluations: Vec<Evaluation>) -> History {
    let amount = |of_tokens, number| if of_tokens { Amount::Tokens(number) } else { Amount::Examples(number) };
    let step = |(step, seen, of_tokens, metrics): Update| StepRecord {
        step,
        seen: amount(of_tokens, seen),
        metrics: metrics.into_iter().collect(),
    };
    let eval = |(step, data, held_out_loss, counted, of_tokens, metrics): Evaluation| EvalRecord {
        step,
        data,
        held_out_loss,
        counted: HeldOutCount::of(amount(of_tokens, 0), counted),
        metrics: metrics.into_iter().collect(),
    };
    History { steps: updates.into_iter().map(step).collect(), evals: evaluations.into_iter().map(eval).collect() }
}

/// The updates and evaluations of a history.
pub(crate) fn measured(history: &History) -> (Vec<Update>, Vec<Evaluation>) {
    (history.steps.iter().map(update).collect(), history.evals.iter().map(evaluation).collect())
}

pub(crate) fn pairs<'m>(metrics: impl IntoIterator<Item = (&'m String, &'m f64)>) -> Vec<(String, f64)> {
    metrics.into_iter().map(|(name, value)| (name.clone(), *value)).collect()
}

/// Trains on the data of the recipe or on data of Python, and returns what was measured. An exception of the observer or of the data,
/// or a signal, ends the run with its state saved.
#[pyfunction]
pub(crate) fn train(
    py: Python<'_>,
    bundle: &Bundle,
    source: Option<&Source>,
    data: Option<Py<PyAny>>,
    options: Options,
    observer: Py<PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Vec<Update>, Vec<Evaluation>)> {
    let mut run = Run { bundle: bundle.inner(), source, options, raised: None };
    let mut ended = Err(Diagnostic::bug("a run did not begin").into());
    let waited = work::told(py, progress, |work| {
        ended = run.go(work, data, observer);
        Ok(())
    });
    let Some(error) = run.raised.or(waited.err()) else { return ended.map_err(|failure| failure.raise(py)) };
    // What could not be saved is told beside why it was to be.
    if let Some(failure) = ended.err().filter(|failure| !failure.is_cancelled()) {
        error.set_cause(py, Some(failure.raise(py)));
    }
    Err(error)
}

/// A run under way.
struct Run<'a> {
    bundle: &'a halite::Bundle,
    /// The source of the bundle; its model is kept with the run where it is a text that is not built in.
    source: Option<&'a Source>,
    options: Options,
    /// The exception of Python that ended it.
    raised: Option<PyErr>,
}

impl Run<'_> {
    fn go(
        &mut self,
        work: &Work,
        data: Option<Py<PyAny>>,
        observer: Py<PyAny>,
    ) -> Result<(Vec<Update>, Vec<Evaluation>), Failure> {
        let output = RunFiles::new(&self.options.output);
        let mut options = self.options.of(self.bundle, &output, work)?;
        if let Some(source) = self.source.map(Source::loaded) {
            options.model = source.own_text().map(str::to_owned);
            options.libraries = source.own_libraries();
        }
        let observer = Own::new(work, observer);
        let raised = observer.raised.clone();
        let mut teller = Teller { work: work.clone(), observer, steps: options.steps };
        _ = work.step("compiling with XLA", 0, Some(options.steps));
        let ended = match data {
            None => self.train(&self.recipe_data()?, &options, &output, &mut teller),
            Some(object) => {
                let data = OwnData::new(teller.observer.with(object), self.bundle)?;
                let ended = self.train(&data, &options, &output, &mut teller);
                // Of what was read ahead, only what was needed.
                self.raised = data.raised.take().filter(|_| matches!(&ended, Err(failure) if failure.is_cancelled()));
                ended
            }
        };
        self.raised = raised.take().or(self.raised.take());
        ended
    }

    fn train(
        &self,
        data: &dyn Data,
        options: &TrainOptions,
        output: &RunFiles,
        observer: &mut dyn Observer,
    ) -> Result<(Vec<Update>, Vec<Evaluation>), Failure> {
        let executor = plugin::open(self.options.plugin.as_deref(), self.bundle, false)?;
        Ok(measured(&train_to_end(executor, self.bundle, data, options, output, observer)?))
    }

    /// The data that the recipe names.
    fn recipe_data(&self) -> Result<RecipeData, Diagnostic> {
        let Some(table) = &self.bundle.manifest.recipe.data else {
            let error = Diagnostic::error(codes::USAGE, "no data to train on");
            let help = "give `data`: arrays of tokens, or what the recipe's table `data` would have, such as \
                        `{\"sources\": [{\"files\": [\"book.txt\"]}]}`";
            return Err(error.help(help));
        };
        RecipeData::new(self.bundle, table.clone(), ".")
    }
}

/// Tells Python how a run goes.
struct Teller {
    work: Work,
    observer: Own,
    steps: u64,
}

impl Observer for Teller {
    fn stepped(&mut self, record: &StepRecord) {
        _ = self.work.step(format!("loss {:.4}", record.loss()), record.step, Some(self.steps));
        self.observer.hear("updated", update(record));
    }

    fn evaluated(&mut self, record: &EvalRecord) {
        self.observer.hear("evaluated", evaluation(record));
    }

    fn saved(&mut self, checkpoint: &Path, step: u64) {
        self.observer.hear("saved", (step, checkpoint.to_path_buf()));
    }

    fn warned(&mut self, warning: &Diagnostic) {
        self.observer.hear("warned", (reported(&warning.clone().into(), &SourceMap::new()),));
    }
}
