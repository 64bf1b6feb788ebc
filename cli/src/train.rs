//! `halite train`.

mod ended;

use crate::bars::{self, TrainBar};
use crate::context::{Context, Output, Ready, Result};
use crate::data_fit;
use crate::defaults;
use crate::deny::{Deny, denied};
use crate::device::{Device, Running};
use crate::idle;
use crate::memory;
use crate::plan;
use crate::signals::Signals;
use crate::table::counted;
use crate::terminal;
use crate::texts::Texts;
use clap::Args;
use ended::{Watched, failed, is_worth_another_try, stopped, summary};
use halite_bundle::Bundle;
use halite_recipe::{CheckpointOptions, Recipe, RecoveryOptions};
use halite_support::{Diagnostic, Diagnostics, codes};
use halite_train::{History, RecipeData, RunFiles, Start, TrainOptions, train};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Train on the data of a recipe or on text files, on the CPU or on Neuron cores.
///
/// INPUT is a bundle or what `halite compile` takes. What is trained on stands in the table `data` of its recipe, unless `--text` names
/// text files. The folder of the run gets recipe.toml, metrics.jsonl, loss.svg and checkpoints, the newest of which is also
/// state.safetensors; timing.jsonl, how long each update took; and what the table `metrics` of the recipe asks for: report.html, a page
/// with all curves, and event files for TensorBoard. Equal inputs and seeds give equal bits, except in times; a run that was interrupted
/// and resumed ends like one that was not.
///
/// Started again, a run resumes from the newest whole checkpoint of its folder. Checkpoints are written while updates go on, each with
/// the checksums of its files; a broken one is named and passed over. The file checkpoint-now in the folder, or SIGUSR1, requests one
/// after the current update. One run at a time works in a folder.
///
/// A warning says when gradients grow, the loss is too good to be true or updates wait for data; `metrics` has the limits. Another one,
/// before the first update, says at which updates the learning rate is 0, so that they change nothing.
///
/// SIGINT (Ctrl-C), SIGTERM and SIGHUP end the run after the current update, with its state saved; SIGINT after one of them ends it
/// at once. A state says what made it: model, batch, precision, optimizer, schedule, program, seed and data. A run that is resumed
/// with others is refused, unless --allow-changes is given. How it is laid out over ranks may change, as long as an update takes
/// as many sequences: a warning says what did. The state of `halite init` starts any run; a state that does not say what made it,
/// such as one of `halite run` or `halite convert`, is taken with a warning.
///
/// Exit codes: 0 done, 1 diverged, 2 wrong input, 75 the device failed and the folder has a state to go on from (start the same
/// command again), 128 and the number of the signal where one ended the run, with its state saved.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite train tiny --text book.txt --steps 300
  halite train build/tiny --text a.txt b.txt --seed 7 -o runs/seed7
  halite train tiny --text book.txt --steps 600 --checkpoint-every 100
  halite train tiny --text book.txt --steps 900 -o runs/more \\
    --resume runs/tiny
  halite train bytes.toml --text book.txt --weights model.safetensors
  halite train build/tiny --text book.txt --executor nrt")]
pub(super) struct Train {
    /// Preset, recipe, model file or bundle to train, or the folder of a run to resume.
    input: String,
    #[command(flatten)]
    texts: Texts,
    /// Number of updates in all, those before a resumption included [default: `train.steps` of the recipe].
    #[arg(long)]
    steps: Option<u64>,
    /// Seed of the initial weights and of the order of data [default: that of the resumed state, else `train.seed` of the recipe].
    #[arg(long, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: Option<u64>,
    /// The folder of the run [default: runs/NAME, or INPUT where it is a run].
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Set a key of the recipe (`batch=4`, `optimizer.adamw.lr=1e-3`) or of the model (`layers=2`); may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Fail before the first update when compiling gives a warning; with `--deny unproven` only where something is not proven.
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "warnings")]
    deny: Option<Deny>,
    /// Resume from this state: a file, a checkpoint, or the folder of a run for its newest one.
    #[arg(long, value_name = "PATH")]
    resume: Option<PathBuf>,
    /// Start a new run: refuse a folder with checkpoints instead of resuming from the newest one.
    #[arg(long, conflicts_with = "resume")]
    fresh: bool,
    /// Resume although recipe, program, seed or data are not those of the state; what differs is shown.
    #[arg(long, conflicts_with = "fresh")]
    allow_changes: bool,
    /// Start from these weights with a new optimizer state: a safetensors file, a sharded checkpoint's index, or its folder.
    #[arg(long, value_name = "PATH", conflicts_with = "resume")]
    weights: Option<PathBuf>,
    /// Evaluate every so many updates; 0 evaluates at the start and the end only [default: `train.eval_every` of the recipe].
    #[arg(long, value_name = "STEPS")]
    eval_every: Option<u64>,
    /// Maximum number of batches of one evaluation of a data set [default: `train.eval_batches` of the recipe].
    #[arg(long, value_name = "COUNT")]
    eval_batches: Option<usize>,
    /// Texts that the model goes on with at the end, for report.html: where the data are of text, and the run has 64 updates at least
    /// [default: 2 where the target is the CPU, else 0: the forward is compiled for them].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(..=64))]
    samples: Option<u32>,
    #[command(flatten)]
    checkpoints: Checkpoints,
    #[command(flatten)]
    recovery: Recovery,
    #[command(flatten)]
    device: Device,
}

/// When checkpoints are saved, and which stay: what is left out, the table `checkpoint` of the recipe says.
#[derive(Args, Debug)]
struct Checkpoints {
    /// Save a checkpoint every so many updates; 0 does not. The last state is always saved [default: `checkpoint.every` of the recipe].
    #[arg(long, value_name = "STEPS")]
    checkpoint_every: Option<u64>,
    /// Save a checkpoint every so many minutes; 0 does not [default: `checkpoint.minutes` of the recipe].
    #[arg(long, value_name = "MINUTES")]
    checkpoint_minutes: Option<u64>,
    /// Number of newest checkpoints to keep [default: `checkpoint.keep` of the recipe].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    keep: Option<u32>,
    /// Also keep the checkpoints of every so many updates; 0 keeps none besides [default: `checkpoint.keep_every` of the recipe].
    #[arg(long, value_name = "STEPS")]
    keep_every: Option<u64>,
}

impl Checkpoints {
    fn over(&self, recipe: CheckpointOptions) -> CheckpointOptions {
        CheckpointOptions {
            every: self.checkpoint_every.unwrap_or(recipe.every),
            minutes: self.checkpoint_minutes.unwrap_or(recipe.minutes),
            keep: self.keep.unwrap_or(recipe.keep),
            keep_every: self.keep_every.unwrap_or(recipe.keep_every),
        }
    }
}

/// When the run goes back by itself: what is left out, the table `recovery` of the recipe says.
#[derive(Args, Debug)]
struct Recovery {
    /// Maximum number of restarts from one checkpoint after failures of the device [default: `recovery.restarts` of the recipe].
    #[arg(long, value_name = "COUNT")]
    restarts: Option<u32>,
    /// Maximum number of rollbacks: where an update is not finite or the loss jumps (`recovery.loss_jump`), the run goes back to a
    /// checkpoint and skips the batches up to there [default: `recovery.rollbacks` of the recipe].
    #[arg(long, value_name = "COUNT")]
    rollbacks: Option<u32>,
}

impl Recovery {
    fn over(&self, recipe: RecoveryOptions) -> RecoveryOptions {
        RecoveryOptions {
            restarts: self.restarts.unwrap_or(recipe.restarts),
            rollbacks: self.rollbacks.unwrap_or(recipe.rollbacks),
            ..recipe
        }
    }
}

impl Train {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        if self.deny.is_some() {
            context.require_recipe(&self.input, "--deny")?;
        }
        let began = Instant::now();
        let (name, Ready { mut bundle, warnings, model, libraries, state, weights, source }) =
            context.ready(&self.input, &self.set)?;
        // A bundle was compiled before.
        let compile_seconds = (!Bundle::is_at(Path::new(&self.input))).then(|| began.elapsed().as_secs_f64());
        self.check_start(weights.as_deref())?;
        if let Some(denied) = denied(self.deny, &warnings) {
            return Ok(denied);
        }
        let launched = self.device.launched(&self.input, &bundle.manifest)?;
        context.rank = launched.as_ref().filter(|launched| launched.world > 1).map(|launched| launched.rank);
        context.show(&warnings);
        let described = source.as_ref().and_then(|source| defaults::described(source, &bundle.manifest.recipe));
        described.iter().for_each(|said| context.aside(said));
        let output = self.output(&name, state.as_deref());
        let options = self.options(&name, &bundle.manifest.recipe, &output)?;
        let update_seconds = plan::update_seconds(context, &bundle.manifest);
        let mut options = TrainOptions { model, libraries, compile_seconds, update_seconds, ..options };
        if let Some(table) = self.texts.table()? {
            bundle.manifest.recipe.data = Some(table);
        }
        let (data, described) = data(&bundle)?;
        let shapes = &context.session.vocabulary.shapes;
        context.show(idle::warning(&bundle.manifest.recipe.schedule, shapes, options.steps).as_slice());
        let unfinished = idle::unfinished(&bundle.manifest.recipe, shapes, options.steps, source.is_none());
        unfinished.iter().for_each(|said| context.aside(said));
        data_fit::require(context, source.as_ref(), &bundle, &data)?;
        if !self.device.is_nrt() {
            context.show(memory::check(context, &bundle)?.as_slice());
        }
        let output = match launched.as_ref().filter(|launched| launched.world > 1) {
            Some(launched) => output.of_rank(launched.rank as usize),
            None => output,
        };
        let running = self.device.start(context, &self.input, &mut bundle, launched.as_ref());
        let Running { executor, peers } = match running {
            Err(errors) if is_worth_another_try(&errors, None) && output.state().is_file() => {
                return Ok(failed(errors, &output));
            }
            running => running?,
        };
        options.peers = peers;
        let mut watcher = Watcher {
            spinner: bars::announced(context, &format!("{name}: {described}; {}", self.device.preparation())),
            bar: TrainBar::new(context, options.steps),
            context,
            signals: Signals::catch(options.cancel.clone())?,
            wish: output.wish(),
            completed: 0,
            epochs: 0,
        };
        let history = train(executor, &bundle, &data, &options, &output, &mut watcher);
        watcher.spinner.finish_and_clear();
        watcher.bar.finish();
        watcher.ended(history, &options, &output, bundle.manifest.recipe.metrics.report)
    }

    /// The folder of the run: the one that is said, that of the state to start from, or one by name.
    fn output(&self, name: &str, state: Option<&Path>) -> RunFiles {
        match (&self.output, state.and_then(RunFiles::at)) {
            (Some(output), _) => RunFiles::new(output),
            (None, Some(run)) => run,
            (None, None) => RunFiles::new(PathBuf::from("runs").join(name)),
        }
    }

    /// A checkpoint of Transformers is trained on from its weights, or its model anew: which of the two has to be said.
    fn check_start(&self, checkpoint: Option<&Path>) -> Result<()> {
        let (Some(folder), None, None) = (checkpoint, &self.weights, &self.resume) else { return Ok(()) };
        let folder = folder.display();
        let message = format!("`{folder}` is a checkpoint of Transformers, and a run says what it starts from");
        let help = format!(
            "start from its weights, `halite train {folder} --weights {folder}`, or anew: `halite train {folder}/config.json`"
        );
        Err(Diagnostic::error(codes::USAGE, message).help(help).into())
    }

    /// The options of training: those of the command line, else those of the recipe.
    fn options(&self, name: &str, recipe: &Recipe, output: &RunFiles) -> Result<TrainOptions> {
        let defaults = recipe.train;
        Ok(TrainOptions {
            title: name.to_owned(),
            draw: Some(halite_page::plot::loss),
            page: Some(halite_page::report),
            steps: self.steps.unwrap_or(defaults.steps.into()),
            seed: self.seed(output, defaults.seed)?,
            start: self.start(),
            eval_every: self.eval_every.unwrap_or(defaults.eval_every.into()),
            eval_batches: self.eval_batches.unwrap_or(defaults.eval_batches as usize),
            checkpoint: self.checkpoints.over(recipe.checkpoint),
            recovery: self.recovery.over(recipe.recovery),
            allow_changes: self.allow_changes,
            samples: self.samples,
            ..TrainOptions::default()
        })
    }

    /// The seed that is given, else that of the state to resume, else that of the recipe.
    fn seed(&self, output: &RunFiles, default: u64) -> Result<u64> {
        match self.seed {
            Some(seed) => Ok(seed),
            None => Ok(self.start().seed(output)?.unwrap_or(default)),
        }
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

/// The data that a bundle is trained on, and their description for the line that is shown while they are opened.
///
/// # Errors
/// When its recipe names no data, or some that its model cannot be trained on.
fn data(bundle: &Bundle) -> Result<(RecipeData, String)> {
    let Some(table) = &bundle.manifest.recipe.data else {
        let error = Diagnostic::error(codes::USAGE, "no data to train on");
        let help = "give `--text FILE`, or data in the recipe: `[data]` with `sources = [{ files = [..] }]`";
        return Err(error.help(help).into());
    };
    let described = format!("data of {}", counted(table.sources.len(), "source"));
    Ok((RecipeData::new(bundle, table.clone(), ".")?, described))
}

/// A spinner while modules get ready, then the bar; and what ends the run after an update when a signal comes.
struct Watcher<'a> {
    spinner: indicatif::ProgressBar,
    bar: TrainBar,
    context: &'a Context,
    signals: Signals,
    /// The file that asks for a checkpoint.
    wish: PathBuf,
    completed: u64,
    /// The number of complete passes over all training data.
    epochs: u64,
}

impl Watcher<'_> {
    /// The output of a run that ended with this history or these errors.
    fn ended(
        &self,
        history: std::result::Result<History, Diagnostics>,
        options: &TrainOptions,
        output: &RunFiles,
        has_report: bool,
    ) -> Result<Output> {
        match history {
            Err(errors) if errors.iter().all(|error| error.code() == codes::CANCELLED) => {
                Ok(stopped(self.signals.caught(), self.completed, options.steps, output))
            }
            Err(errors) if is_worth_another_try(&errors, options.peers.as_ref()) && output.state().is_file() => {
                Ok(failed(errors, output))
            }
            history => {
                let update = self.bar.update_seconds().zip(options.update_seconds).map(<[f64; 2]>::from);
                let watched = Watched { rate: self.bar.rate(), epochs: self.epochs, update };
                Ok(summary(&history?, output, has_report, &watched))
            }
        }
    }

    fn heed_signals(&mut self) {
        if self.signals.takes_wish()
            && let Err(error) = halite_disk::write(&self.wish, b"")
        {
            let warning = Diagnostic::warning(error.code(), error.message().to_owned());
            self.spinner.suspend(|| self.context.show(&[warning]));
        }
    }
}

impl halite_train::Observer for Watcher<'_> {
    fn resumed(&mut self, state: &Path, step: u64) {
        self.completed = step;
        if self.context.shows_progress() {
            let said = format!("going on after update {step} from {}", state.display());
            self.spinner.suspend(|| terminal::say(&said));
        }
    }

    fn started(&mut self, step: u64) {
        self.spinner.finish_and_clear();
        self.bar.started(step);
        self.completed = step;
        self.heed_signals();
    }

    fn stepped(&mut self, record: &halite_train::StepRecord) {
        self.bar.stepped(record);
        self.completed = record.step;
        self.heed_signals();
    }

    fn read_all(&mut self, epochs: u64) {
        self.epochs = epochs;
    }

    fn timed(&mut self, record: &halite_train::TimeRecord) {
        self.bar.timed(record);
    }

    fn evaluated(&mut self, record: &halite_train::EvalRecord) {
        self.bar.evaluated(record);
        self.heed_signals();
    }

    fn warned(&mut self, warning: &Diagnostic) {
        self.spinner.suspend(|| self.context.show(std::slice::from_ref(warning)));
    }
}
