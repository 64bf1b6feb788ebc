//! The training loop.

use super::feed::Feed;
use super::peers::Peers;
use super::programs::Programs;
use super::record::{self, KEY, Record};
use super::state::Updates;
use super::together::Together;
use super::update::Run;
use super::watch::{Part, Seen, TensorBoard, Times, Utilization, Watch};
use super::{History, Observer};
use halite_bundle::tensors::{self, Tensors};
use halite_bundle::{Bundle, check_state, parts};
use halite_data::{Data, Dataset};
use halite_disk::Disk;
use halite_recipe::Recipe;
use halite_runtime::Executor;
use halite_support::{CancelToken, Diagnostic, Diagnostics, Result, codes};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Draws the loss of a run under a title, as SVG.
pub type Draw = fn(&str, &History) -> Result<String>;

/// Makes the page of a run under a title, as HTML.
pub type Page = fn(&str, &Recipe, &Seen<'_>) -> Result<String>;

/// How to train.
#[derive(Clone, Debug, Default)]
pub struct TrainOptions {
    /// What the plot is called.
    pub title: String,
    /// Draws the plot; without it there is none.
    pub draw: Option<Draw>,
    /// Makes the page, where the recipe has one; without it there is none.
    pub page: Option<Page>,
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
    /// Updates between saves of the state; 0 saves it at the end only.
    pub save_every: u64,
    /// Goes on from a state of another recipe, program, seed or data, and only tells what differs. A state of another layout needs
    /// no such leave.
    pub allow_changes: bool,
    /// Stops the run between updates; metrics, plot and state are then written, so that it can be resumed.
    pub cancel: CancelToken,
    /// The other processes of the run, where each rank is one. They agree on what runs and on when it is stopped, and each saves its
    /// part of the state; the first of them writes all else.
    pub peers: Option<Peers>,
}

/// What a run starts from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Start {
    /// The initial state of the seed.
    #[default]
    Seed,
    /// These weights, as [`state_from_checkpoint`](halite_bundle::init::state_from_checkpoint) reads them, with a new optimizer.
    Weights(PathBuf),
    /// The state in this file, in which an earlier run ended.
    State(PathBuf),
}

/// The folder of a run: `recipe.toml`, `metrics.jsonl`, `timing.jsonl`, `loss.svg`, `state.safetensors`, and what the recipe's `metrics`
/// ask for: `report.html` and `tensorboard`. Each file is replaced whole, but for TensorBoard's, which grow. Of several processes, all see
/// one folder, and the state is in [parts](halite_bundle::parts) with an index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunFiles {
    folder: PathBuf,
    disk: Disk,
    /// Where ranks are processes, that of this one.
    rank: Option<usize>,
}

impl RunFiles {
    /// The files in this folder, which is made when something is written.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), disk: Disk::default(), rank: None }
    }

    /// The same as the process of a rank sees them.
    #[must_use]
    pub fn of_rank(self, rank: usize) -> Self {
        Self { rank: Some(rank), ..self }
    }

    /// Whether this process writes what is written once.
    fn leads(&self) -> bool {
        self.rank.is_none_or(|rank| rank == 0)
    }

    /// Where a state is that one process holds as a whole.
    fn whole_state(&self) -> PathBuf {
        self.folder.join("state.safetensors")
    }

    /// The same on another disk.
    #[cfg(test)]
    pub(super) fn on(self, disk: Disk) -> Self {
        Self { disk, ..self }
    }

    /// The recipe, with every default filled in; there from the start.
    pub fn recipe(&self) -> PathBuf {
        self.folder.join("recipe.toml")
    }

    /// What each update measured, a line of JSON each.
    pub fn metrics(&self) -> PathBuf {
        self.folder.join("metrics.jsonl")
    }

    /// The plot of the loss.
    pub fn plot(&self) -> PathBuf {
        self.folder.join("loss.svg")
    }

    /// What each update took, a line of JSON each.
    pub fn timing(&self) -> PathBuf {
        self.folder.join("timing.jsonl")
    }

    /// The page of the run.
    pub fn report(&self) -> PathBuf {
        self.folder.join("report.html")
    }

    /// The folder of TensorBoard's files.
    pub fn tensorboard(&self) -> PathBuf {
        self.folder.join("tensorboard")
    }

    /// The last state, or the index of its parts.
    pub fn state(&self) -> PathBuf {
        let whole = self.whole_state();
        if self.rank.is_some() { parts::index_path(&whole) } else { whole }
    }

    /// What the folder holds of a run up to `step`; nothing at step 0 or when there is no file.
    fn history(&self, step: u64) -> Result<History> {
        let path = self.metrics();
        if step == 0 || !path.is_file() {
            return Ok(History::default());
        }
        let mut history = History::parse(&halite_support::files::read_text(&path)?, &path)?;
        history.truncate(step);
        Ok(history)
    }

    /// What the updates up to `step` took, as far as the folder tells.
    fn times(&self, step: u64) -> Result<Times> {
        let path = self.timing();
        if step == 0 || !path.is_file() {
            return Ok(Times::default());
        }
        Times::parse(&halite_support::files::read_text(&path)?, &path, step)
    }

    /// Hears a run that goes on after this history for its caller, and for what the recipe asks for.
    fn watch<'a>(
        &self,
        recipe: &Recipe,
        history: &History,
        step: u64,
        caller: &'a mut dyn Observer,
    ) -> Result<Watch<'a>> {
        let options = &recipe.metrics;
        let mut observers: Vec<Box<dyn Observer + 'a>> = vec![Box::new(caller)];
        if options.tensorboard && self.leads() {
            let board = TensorBoard::new(self.tensorboard(), options.every.into());
            observers.push(Box::new(board.on(self.disk.clone())));
        }
        Ok(Watch::new(observers, options, history, self.times(step)?))
    }

    /// Writes the recipe of a run, with its seed and its number of updates in place of those that are the defaults.
    fn begin(&self, recipe: &Recipe, options: &TrainOptions) -> Result<()> {
        if !self.leads() {
            return Ok(());
        }
        let mut recipe = recipe.clone();
        recipe.train.seed = options.seed;
        recipe.train.steps = u32::try_from(options.steps).unwrap_or(u32::MAX);
        let text = toml::to_string(&recipe).map_err(|error| {
            let message = format!("the recipe holds a value that TOML cannot: {error}");
            Diagnostic::error(codes::RECIPE_RANGE, message).help("choose a value that TOML can hold")
        })?;
        halite_disk::write_on(&self.disk, &self.recipe(), text.as_bytes())
    }

    /// Writes all that was measured and seen.
    fn write(&self, run: &Run<'_>, options: &TrainOptions, watch: &mut Watch<'_>) -> Result<()> {
        if !self.leads() {
            return Ok(());
        }
        let history = &run.history;
        let recipe = &run.step.manifest().recipe;
        let write = |path: &Path, text: String| halite_disk::write_on(&self.disk, path, text.as_bytes());
        write(&self.metrics(), history.to_json_lines())?;
        write(&self.timing(), watch.times().to_json_lines()?)?;
        if let Some(draw) = options.draw {
            write(&self.plot(), draw(&options.title, history)?)?;
        }
        if let Some(page) = options.page.filter(|_| recipe.metrics.report) {
            write(&self.report(), page(&options.title, recipe, &watch.seen(history))?)?;
        }
        watch.written()
    }

    /// What is said of a run whose executor failed, whose state is lost: what was measured is written, and the file with the last state
    /// stays.
    fn failed(&self, run: &Run<'_>, options: &TrainOptions, watch: &mut Watch<'_>, errors: Diagnostics) -> Diagnostics {
        let state = self.state();
        let kept = if state.is_file() {
            format!("the state that was saved last is whole: `--resume {}`", state.display())
        } else {
            "no state was saved before: `--save-every` does so while a run goes on".to_owned()
        };
        let unwritten = self.write(run, options, watch).err();
        errors.into_iter().map(|error| error.note(kept.clone())).chain(unwritten).collect()
    }

    /// Writes what was measured, then the state: metrics beyond a state are dropped when it is resumed, none are missing.
    fn save(
        &self,
        run: &Run<'_>,
        options: &TrainOptions,
        record: &Record,
        watch: &mut Watch<'_>,
    ) -> std::result::Result<(), Diagnostics> {
        self.write(run, options, watch)?;
        let place = self.whole_state();
        let record = &record.at(run.step.attempted(), run.position.clone());
        let Some(peers) = &options.peers else {
            run.step.save_with(&self.disk, &place, record)?;
            return Ok(parts::remove(&self.disk, &place)?);
        };
        let point = format!("the save after update {}", run.step.attempted());
        let series = peers.exchange(&point, &parts::next_series(&place).to_string())?;
        // The first one says under which number all write.
        let series = series.first().and_then(|series| series.parse().ok()).unwrap_or(u64::MAX);
        let index = run.step.parts_index(&place, series, record)?;
        run.step.save_part(&self.disk, &place, &index, peers.rank())?;
        peers.exchange(&format!("the end of {point}"), "")?;
        if peers.leads() {
            parts::commit(&self.disk, &place, &index)?;
        }
        Ok(())
    }
}

/// Trains a bundle on data, and leaves recipe, metrics, plot and final state in the folder. Metrics and plot are also
/// written at each evaluation, and with the state every [`save_every`](TrainOptions::save_every) updates. A state carries a
/// [`Record`] of what made it, to which a run that is resumed from it is held.
///
/// # Errors
/// When the bundle lacks a training step on sequences, the data cannot be read, state or weights do not fit, the state comes from
/// another run, a file cannot be written, the executor fails, the run diverges, or it is cancelled. A run diverges where an update
/// or an evaluation is not finite or, with `nonfinite = "skip"`, a hundred updates in a row are not: metrics and plot are written,
/// and the last state that was saved stays.
pub fn train(
    executor: Arc<dyn Executor>,
    bundle: &Bundle,
    data: &dyn Data,
    options: &TrainOptions,
    output: &RunFiles,
    observer: &mut dyn Observer,
) -> std::result::Result<History, Diagnostics> {
    let output = match &options.peers {
        Some(peers) => &output.clone().of_rank(peers.rank()),
        None => output,
    };
    let ended = run_to_end(executor, bundle, data, options, output, observer);
    if let (Some(peers), Err(errors)) = (&options.peers, &ended) {
        peers.fail(errors);
    }
    ended
}

/// As [`train`], of one process.
fn run_to_end(
    executor: Arc<dyn Executor>,
    bundle: &Bundle,
    data: &dyn Data,
    options: &TrainOptions,
    output: &RunFiles,
    observer: &mut dyn Observer,
) -> std::result::Result<History, Diagnostics> {
    let feed = Feed::of(bundle)?;
    let mut data = data.open(feed.width, options.seed)?;
    feed.check(data.train.as_ref())?;
    let record = Record::new(bundle, &data, options.seed)?;
    let tensors = match &options.start {
        Start::Seed => halite_bundle::init::initial_state(bundle, options.seed)?,
        Start::Weights(path) => halite_bundle::init::state_from_checkpoint(&bundle.manifest, path)?,
        Start::State(path) => resumed(bundle, path, (&record, data.train.as_mut()), options, observer)?,
    };
    // Before anything is compiled.
    check_state(&bundle.manifest, &tensors)?;
    let utilization = Utilization::of(&bundle.manifest, executor.as_ref());
    let programs = Programs::load(executor, bundle, data.held_out, options.eval_batches)?;
    let together = Together::of(options.peers.as_ref(), &options.cancel);
    let mut step = programs.step().with_cancel(together.cancel.clone());
    step.set_state(tensors)?;
    let start = step.attempted();
    let mut run = Run::new(&programs, data.train, step);
    run.history = output.history(start)?;
    // Nothing is written before all have read.
    together.compare(&told(options, &record.at(start, run.position.clone()), &run.history))?;
    output.begin(&bundle.manifest.recipe, options)?;
    let watch = &mut output.watch(&bundle.manifest.recipe, &run.history, start, observer)?.on(utilization);
    watch.started(start);
    let ended = go(&mut run, start, &record, (options, &together), output, watch);
    let ended_by = |code| matches!(&ended, Err(errors) if errors.iter().all(|error| error.code() == code));
    // What was done up to here is kept, also when the run was stopped; of one that diverged, not the state.
    if ended.is_ok() || ended_by(codes::CANCELLED) {
        output.save(&run, options, &record, watch)?;
    } else if ended_by(codes::DIVERGED) {
        output.write(&run, options, watch)?;
    } else if let Err(errors) = ended {
        return Err(output.failed(&run, options, watch, errors));
    }
    together.end()?;
    ended.map(|()| run.history)
}

/// What the processes of a run must have alike.
fn told(options: &TrainOptions, record: &Record, history: &History) -> serde_json::Value {
    serde_json::json!({
        "made": record,
        "updates": options.steps,
        "eval_every": options.eval_every,
        "eval_batches": options.eval_batches,
        "save_every": options.save_every,
        "measured": [history.steps.len(), history.evals.len()],
    })
}

/// The tensors of a state, once it is clear that it comes from this run; the data go on where they were.
fn resumed(
    bundle: &Bundle,
    path: &Path,
    (record, data): (&Record, &mut dyn Dataset),
    options: &TrainOptions,
    observer: &mut dyn Observer,
) -> std::result::Result<Tensors, Diagnostics> {
    let (tensors, text) = tensors::read_marked(path, KEY)?;
    let old = text.map(|text| Record::parse(&text, path)).transpose()?;
    check_state(&bundle.manifest, &tensors)?;
    let step = Updates::of(&bundle.manifest, &tensors).attempted;
    if let Some(warning) = record::hold(path, old.as_ref(), record, step, options.allow_changes)? {
        observer.warned(&warning);
    }
    // Positions in other data mean nothing here.
    if let Some(old) = old.filter(|old| old.has_data_of(record)) {
        data.seek(&old.position)?;
    }
    Ok(tensors)
}

/// All updates after `start`.
fn go(
    run: &mut Run<'_>,
    start: u64,
    record: &Record,
    (options, together): (&TrainOptions, &Together<'_>),
    output: &RunFiles,
    watch: &mut Watch<'_>,
) -> std::result::Result<(), Diagnostics> {
    // Of a run that was stopped, the last evaluation may be missing; where none was due, none is made.
    let due = start - start.checked_rem(options.eval_every).unwrap_or(start);
    if run.history.evals.last().is_none_or(|eval| eval.step < due) {
        run.evaluate(start, watch)?;
        watch.spent(Part::Evaluation);
    }
    for step in start + 1..=options.steps {
        together.heed(step)?;
        let batch = run.batch()?;
        watch.spent(Part::Data);
        run.step(step, &batch, watch)?;
        watch.spent(Part::Step);
        watch.completed(step, run.tokens());
        let is_last = step == options.steps;
        let is_evaluated = is_due(step, options.eval_every) || is_last;
        if is_evaluated {
            run.evaluate(step, watch)?;
            watch.spent(Part::Evaluation);
        }
        if is_due(step, options.save_every) && !is_last {
            output.save(run, options, record, watch)?;
        } else if is_evaluated {
            output.write(run, options, watch)?;
        }
        watch.spent(Part::Writing);
    }
    Ok(())
}

/// Whether something that happens every so many updates happens after this one; 0 is never.
pub fn is_due(step: u64, every: u64) -> bool {
    every > 0 && step.is_multiple_of(every)
}
