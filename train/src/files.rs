//! The folder of a run.

use super::checkpoint::{Checkpoints, RunLock, STATE};
use super::{Draw, History, TrainOptions};
use halite_bundle::parts;
use halite_disk::Disk;
use halite_recipe::Recipe;
use halite_support::files::{cannot, read_text};
use halite_support::{Diagnostic, Result, codes};
use std::path::{Path, PathBuf};

/// The folder of a run: `recipe.toml`, `metrics.jsonl`, `loss.svg`, `events.jsonl` where something was mended, the
/// [checkpoints](Checkpoints), and the newest of these as `state.safetensors`. Each is replaced whole. Of several processes, all see
/// one folder, and a state is in [parts] with an index.
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

    /// Where the newest state is if one process holds it as a whole.
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

    /// What each update measured, a line of JSON each.
    pub fn metrics(&self) -> PathBuf {
        self.folder.join("metrics.jsonl")
    }

    /// The plot of the loss.
    pub fn plot(&self) -> PathBuf {
        self.folder.join("loss.svg")
    }

    /// What went wrong and was mended, a line of JSON each.
    pub fn events(&self) -> PathBuf {
        self.folder.join("events.jsonl")
    }

    /// A file that asks for a checkpoint after the current update, whatever it holds; it is removed when that is begun.
    pub fn wish(&self) -> PathBuf {
        self.folder.join("checkpoint-now")
    }

    /// The checkpoints.
    pub fn checkpoints(&self) -> Checkpoints {
        Checkpoints::on(&self.folder, self.disk.clone())
    }

    /// The newest state, or the index of its parts: another name of what the newest checkpoint holds.
    pub fn state(&self) -> PathBuf {
        let whole = self.whole_state();
        if self.rank.is_some() { parts::index_path(&whole) } else { whole }
    }

    /// Keeps other runs out of the folder, as long as it is held.
    pub(super) fn lock(&self) -> Result<Option<RunLock>> {
        self.leads().then(|| RunLock::take(&self.disk, &self.folder)).transpose()
    }

    /// What the folder holds of a run up to `step`; nothing at step 0 or when there is no file.
    pub(super) fn history(&self, step: u64) -> Result<History> {
        let path = self.metrics();
        if step == 0 || !path.is_file() {
            return Ok(History::default());
        }
        let mut history = History::parse(&read_text(&path)?, &path)?;
        history.truncate(step);
        Ok(history)
    }

    /// Writes the recipe of a run, with its seed and its number of updates in place of those that are the defaults.
    pub(super) fn begin(&self, recipe: &Recipe, options: &TrainOptions) -> Result<()> {
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

    /// Writes what was measured.
    pub(super) fn write_metrics(&self, history: &History) -> Result<()> {
        if !self.leads() {
            return Ok(());
        }
        halite_disk::write_on(&self.disk, &self.metrics(), history.to_json_lines().as_bytes())
    }

    /// Writes what was measured, and draws it.
    pub(super) fn write(&self, (title, draw): (&str, Option<Draw>), history: &History) -> Result<()> {
        self.write_metrics(history)?;
        match draw {
            Some(draw) if self.leads() => {
                halite_disk::write_on(&self.disk, &self.plot(), draw(title, history)?.as_bytes())
            }
            _ => Ok(()),
        }
    }

    /// Adds a line to the events.
    pub(super) fn add_event(&self, event: &serde_json::Value) -> Result<()> {
        let path = self.events();
        let mut text = if path.is_file() { read_text(&path)? } else { String::new() };
        text += &format!("{event}\n");
        halite_disk::write_on(&self.disk, &path, text.as_bytes())
    }

    /// Whether somebody wishes for a checkpoint.
    pub(super) fn is_wished(&self) -> bool {
        self.leads() && self.wish().exists()
    }

    /// The wish is honoured.
    pub(super) fn grant(&self) -> Result<()> {
        let wish = self.wish();
        if !self.is_wished() {
            return Ok(());
        }
        self.disk.remove(&wish).map_err(|error| cannot("remove", &wish, &error))
    }
}
