//! The folder of a run.

use super::checkpoint::{Checkpoint, Checkpoints, LOCK, RunLock, STATE, put};
use super::events::Event;
use super::lines::Written;
use super::startup::to_json_lines;
use super::update::Run;
use super::watch::{TensorBoard, TimeRecord, Times, Watch};
use super::{History, Observer, Sample, Startup, TrainOptions, telemetry};
use halite_bundle::parts;
use halite_disk::{Disk, Own};
use halite_recipe::{DataTable, Recipe, Train};
use halite_support::files::{cannot, read_text, stem};
use halite_support::{Diagnostic, Result, codes};
use std::path::{Path, PathBuf};

/// The folder of a run: `recipe.toml`, the model and what it uses beside it where these are files, `metrics.jsonl`, `timing.jsonl`,
/// `startup.jsonl`, `loss.svg`, `events.jsonl` where something happened that was not planned, `samples.jsonl` where the model generated
/// texts, the [checkpoints](Checkpoints), the newest of these as `state.safetensors`, and what the recipe's `metrics` ask for:
/// `report.html` and `tensorboard`. Each file is replaced whole, but for those that grow: `metrics.jsonl`, `timing.jsonl` and
/// TensorBoard's. Several processes share one folder, and their state is in [parts] with an index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunFiles {
    folder: PathBuf,
    disk: Disk,
    /// The rank of this process, where ranks are processes.
    rank: Option<usize>,
}

/// The recipe of a run, with its options in place of the recipe's own. A model from a file is the copy beside the recipe.
fn of_run(recipe: &Recipe, options: &TrainOptions) -> Recipe {
    let mut recipe = recipe.clone();
    let count = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    recipe.train = Train {
        seed: options.seed,
        steps: count(options.steps),
        eval_every: count(options.eval_every),
        eval_batches: count(options.eval_batches as u64),
    };
    (recipe.checkpoint, recipe.recovery) = (options.checkpoint, options.recovery);
    if options.model.is_some() {
        recipe.model.name = format!("{}.hal", stem(Path::new(&recipe.model.name)));
    }
    recipe
}

impl RunFiles {
    /// The files in this folder, which is made when a file is written.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), disk: Disk::default(), rank: None }
    }

    /// The files of the run that a path leads to: its folder, one of its checkpoints, or its newest state.
    pub fn at(path: &Path) -> Option<Self> {
        let is_checkpoint =
            |folder: &&Path| folder.parent().is_some_and(|all| all.file_name() == Some("checkpoints".as_ref()));
        let folder = match path.is_dir() {
            true => Some(path).filter(is_checkpoint).map_or(Some(path), |folder| folder.parent()?.parent()),
            false => path.parent().filter(|folder| folder.join(STATE) == path),
        };
        let files = Self::new(folder?);
        let is_run = files.recipe().is_file() && (files.metrics().is_file() || files.checkpoints().place().is_dir());
        is_run.then_some(files)
    }

    /// The same files, as seen by the process of a rank.
    #[must_use]
    pub fn of_rank(self, rank: usize) -> Self {
        Self { rank: Some(rank), ..self }
    }

    /// Whether this process writes the files that are written once.
    pub(super) fn leads(&self) -> bool {
        self.rank.is_none_or(|rank| rank == 0)
    }

    /// The folder itself.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Path of the newest state, if one process holds it whole.
    pub(super) fn whole_state(&self) -> PathBuf {
        self.folder.join(STATE)
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

    /// The data that the recipe names, if it names any. The model is not read: it may be gone.
    ///
    /// # Errors
    /// When the recipe cannot be read.
    pub fn data(&self) -> Result<Option<DataTable>> {
        let path = self.recipe();
        let recipe: std::result::Result<toml::Table, _> = read_text(&path)?.parse();
        let data = recipe.and_then(|mut recipe| recipe.remove("data").map(toml::Value::try_into).transpose());
        data.map_err(|error| {
            let message = format!("cannot read the data of the run in `{}`: {error}", path.display());
            Diagnostic::error(codes::RECIPE_SYNTAX, message).help("give the recipe that the run was made from")
        })
    }

    /// The text of the model that the folder keeps, where it is no built-in one.
    pub(super) fn model(&self) -> Option<String> {
        let recipe: toml::Table = read_text(&self.recipe()).ok()?.parse().ok()?;
        let name = recipe.get("model")?.get("name")?.as_str()?;
        read_text(&self.folder.join(name)).ok()
    }

    /// The metrics of each update and of each evaluation, a line of JSON each.
    pub fn metrics(&self) -> PathBuf {
        self.folder.join("metrics.jsonl")
    }

    /// The plot of the loss.
    pub fn plot(&self) -> PathBuf {
        self.folder.join("loss.svg")
    }

    /// The times of each update, a line of JSON each.
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

    /// The [events](Event), a line of JSON each.
    pub fn events(&self) -> PathBuf {
        self.folder.join("events.jsonl")
    }

    /// The time that each process took before its first update, and where it ran, a line of JSON each.
    pub fn startup(&self) -> PathBuf {
        self.folder.join("startup.jsonl")
    }

    /// Texts that the model generated at the end, a line of JSON each.
    pub fn samples(&self) -> PathBuf {
        self.folder.join("samples.jsonl")
    }

    /// A file that asks for a checkpoint after the current update, whatever it holds; it is removed when that checkpoint is begun.
    pub fn wish(&self) -> PathBuf {
        self.folder.join("checkpoint-now")
    }

    /// The checkpoints.
    pub fn checkpoints(&self) -> Checkpoints {
        Checkpoints::on(&self.folder, self.disk.clone())
    }

    /// The newest state, or the index of its parts: a hard link to that of the newest checkpoint, or a copy.
    pub fn state(&self) -> PathBuf {
        let whole = self.whole_state();
        if self.rank.is_some() { parts::index_path(&whole) } else { whole }
    }

    /// Locks the folder against other runs, as long as the lock is held; `None` in a process that does not lead.
    pub(super) fn lock(&self) -> Result<Option<RunLock>> {
        if !self.leads() {
            return Ok(None);
        }
        self.require_own()?;
        RunLock::take(&self.disk, &self.folder).map(Some)
    }

    /// Checks that nothing in the folder leads out of it: files elsewhere would be replaced or removed.
    fn require_own(&self) -> Result<()> {
        let whole = self.whole_state();
        let files = [
            self.recipe(),
            self.metrics(),
            self.timing(),
            self.events(),
            self.startup(),
            self.samples(),
            self.plot(),
            self.report(),
            parts::index_path(&whole),
            whole,
            self.folder.join(LOCK),
        ];
        files.iter().try_for_each(|path| Own::File.check(path))?;
        [self.checkpoints().place(), &self.tensorboard()].iter().try_for_each(|path| Own::Folder.check(path))
    }

    /// The same check of a file at a path in the folder, and of the folders on the way.
    fn require_own_path(&self, path: &Path) -> Result<()> {
        let mut place = self.folder.clone();
        let parts: Vec<_> = path.iter().collect();
        for (number, part) in parts.iter().enumerate() {
            place.push(part);
            let own = if number + 1 < parts.len() { Own::Folder } else { Own::File };
            own.check(&place)?;
        }
        Ok(())
    }

    /// The metrics in the folder of a run up to `step`; none at step 0 or when there is no file.
    pub(super) fn history(&self, step: u64) -> Result<History> {
        if step == 0 { Ok(History::default()) } else { self.measured(step) }
    }

    /// The times of the updates up to `step`, as far as they are in the folder.
    pub(super) fn times(&self, step: u64, listener: &mut dyn Observer) -> Result<Times> {
        if step == 0 {
            return Ok(Times::default());
        }
        let path = self.timing();
        Times::parse(&telemetry::lines::<TimeRecord>(&path, listener), &path, step)
    }

    /// The observer of a run that goes on after this history, for its caller and for what the recipe asks for.
    pub(super) fn watch<'a>(
        &self,
        recipe: &Recipe,
        history: &History,
        step: u64,
        caller: &'a mut dyn Observer,
    ) -> Result<Watch<'a>> {
        let options = &recipe.metrics;
        let (times, events) = (self.times(step, caller)?, self.past_events(step, caller)?);
        let startups = if step > 0 { telemetry::records(&self.startup(), caller) } else { Vec::new() };
        let mut observers: Vec<Box<dyn Observer + 'a>> = vec![Box::new(caller)];
        if options.tensorboard && self.leads() {
            let board = TensorBoard::new(self.tensorboard(), options.every.into());
            observers.push(Box::new(board.on(self.disk.clone())));
        }
        Ok(Watch::new(observers, options, history, times, events, startups))
    }

    /// Writes the recipe of a run, with its options in place of the recipe's own, and the model that it names with the files that this
    /// uses.
    pub(super) fn begin(&self, recipe: &Recipe, options: &TrainOptions) -> Result<()> {
        if !self.leads() {
            return Ok(());
        }
        let recipe = of_run(recipe, options);
        let model = options.model.as_ref().map(|_| Path::new(&recipe.model.name));
        let texts = model.into_iter().chain(options.libraries.iter().map(|(path, _)| path.as_ref()));
        texts.into_iter().try_for_each(|path| self.require_own_path(path))?;
        if let Some(model) = &options.model {
            halite_disk::write_on(&self.disk, &self.folder.join(&recipe.model.name), model.as_bytes())?;
        }
        for (path, library) in &options.libraries {
            halite_disk::write_on(&self.disk, &self.folder.join(path), library.as_bytes())?;
        }
        let text = toml::to_string(&recipe).map_err(|error| {
            let message = format!("the recipe holds a value that TOML cannot: {error}");
            Diagnostic::error(codes::RECIPE_RANGE, message).help("choose a value that TOML can hold")
        })?;
        halite_disk::write_on(&self.disk, &self.recipe(), text.as_bytes())
    }

    /// Writes the metrics and the times that are not written yet.
    pub(super) fn write_metrics(&self, written: &mut Written, history: &History, times: &Times) -> Result<()> {
        if self.leads() {
            let paths = (&*self.metrics(), &*self.timing());
            written.bring_up(&self.disk, paths, history, times)?;
        }
        Ok(())
    }

    /// Writes all that was recorded, and draws the plot and the page.
    pub(super) fn write(
        &self,
        written: &mut Written,
        run: &Run<'_>,
        options: &TrainOptions,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        if !self.leads() {
            return Ok(());
        }
        let (history, recipe) = (&run.history, &run.step.manifest().recipe);
        self.write_metrics(written, history, watch.times())?;
        let write = |path: &Path, text: String| halite_disk::write_on(&self.disk, path, text.as_bytes());
        if let Some(draw) = options.draw {
            write(&self.plot(), draw(&options.title, history)?)?;
        }
        if let Some(page) = options.page.filter(|_| recipe.metrics.report) {
            write(&self.report(), page(&options.title, &of_run(recipe, options), &watch.seen(history))?)?;
        }
        watch.written()
    }

    /// The events of the run that goes on after `step`.
    pub(super) fn past_events(&self, step: u64, listener: &mut dyn Observer) -> Result<Vec<Event>> {
        if step == 0 {
            return Ok(Vec::new());
        }
        let path = self.events();
        Event::parse(&telemetry::lines::<Event>(&path, listener), &path)
    }

    /// Adds an event.
    pub(super) fn add_event(&self, watch: &mut Watch<'_>, event: Event) -> Result<()> {
        if !self.leads() {
            return Ok(());
        }
        let text = Event::to_json_lines(watch.happened(event))?;
        halite_disk::write_on(&self.disk, &self.events(), text.as_bytes())
    }

    /// Adds the startup of a process.
    pub(super) fn add_startup(&self, watch: &mut Watch<'_>, startup: Startup) -> Result<()> {
        let text = to_json_lines(watch.begun(startup))?;
        if self.leads() { halite_disk::write_on(&self.disk, &self.startup(), text.as_bytes()) } else { Ok(()) }
    }

    /// Writes the texts that the model generated.
    pub(super) fn write_samples(&self, watch: &mut Watch<'_>, samples: Vec<Sample>) -> Result<()> {
        let text = to_json_lines(&samples)?;
        watch.sampled(samples);
        halite_disk::write_on(&self.disk, &self.samples(), text.as_bytes())
    }

    /// Makes a checkpoint the newest one, with another text for its state.
    pub(super) fn go_back(&self, checkpoint: &Checkpoint, text: String) -> Result<()> {
        self.checkpoints().go_back(checkpoint.update, text)?;
        let is_whole = checkpoint.state.file_name() == Some(STATE.as_ref());
        if is_whole { put(&self.disk, &checkpoint.state, &self.whole_state()) } else { Ok(()) }
    }

    /// Whether the file [`wish`](Self::wish) asks for a checkpoint.
    pub(super) fn is_wished(&self) -> bool {
        self.leads() && self.wish().exists()
    }

    /// Removes the file that asks for a checkpoint.
    pub(super) fn grant(&self) -> Result<()> {
        let wish = self.wish();
        if !self.is_wished() {
            return Ok(());
        }
        self.disk.remove(&wish).map_err(|error| cannot("remove", &wish, &error))
    }
}
