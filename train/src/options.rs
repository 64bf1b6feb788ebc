//! Options of training.

use super::History;
use super::peers::Peers;
use super::watch::Seen;
use halite_recipe::{CheckpointOptions, Recipe, RecoveryOptions};
use halite_support::{CancelToken, Result};
use std::path::PathBuf;

/// Draws the loss of a run under a title, as SVG.
pub type Draw = fn(&str, &History) -> Result<String>;

/// Makes the page of a run under a title, as HTML.
pub type Page = fn(&str, &Recipe, &Seen<'_>) -> Result<String>;

/// Options of training.
#[derive(Clone, Debug, Default)]
pub struct TrainOptions {
    /// The title of the plot and of the page.
    pub title: String,
    /// Draws the plot; without it there is none.
    pub draw: Option<Draw>,
    /// Makes the page, where the recipe's `metrics` ask for one; without it there is none.
    pub page: Option<Page>,
    /// The number of texts that the model generates at the end, for the page of a run on text: `None` makes two for a recipe for the
    /// CPU and none for others, whose compilers take minutes.
    pub samples: Option<u32>,
    /// Seconds in which the bundle was compiled, where that is known.
    pub compile_seconds: Option<f64>,
    /// Seconds that an update is estimated to take on devices of the target, where that is known: the page shows them beside those that
    /// were measured.
    pub update_seconds: Option<f64>,
    /// Completed updates at the end, those before a resumption included.
    pub steps: u64,
    /// Seed of the initial state and of the order of data.
    pub seed: u64,
    /// The state or weights that the run starts from.
    pub start: Start,
    /// Updates between evaluations; 0 evaluates at the start and the end only.
    pub eval_every: u64,
    /// The most batches of one evaluation.
    pub eval_batches: usize,
    /// Options of checkpoints: when they are saved, and which stay.
    pub checkpoint: CheckpointOptions,
    /// Options of recovery: when a run goes back to a checkpoint by itself. None of several processes can go back alone, so this is the
    /// default then.
    pub recovery: RecoveryOptions,
    /// Goes on from a state of another recipe, program, seed or data, and only tells what differs. A state of another layout needs
    /// no such leave.
    pub allow_changes: bool,
    /// The text of the model, where it comes from a file: it is kept beside the recipe, which then names it.
    pub model: Option<String>,
    /// The files that this text uses, each with its path from the folder of the model: they are kept below that of the run.
    pub libraries: Vec<(PathBuf, String)>,
    /// Stops the run between updates; metrics, plot and state are then written, so that it can be resumed.
    pub cancel: CancelToken,
    /// The other processes of the run, where each rank is one. They agree on what runs and on when it is stopped, and each saves its
    /// part of the state; the first of them writes all else.
    pub peers: Option<Peers>,
}

/// The state or weights that a run starts from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Start {
    /// The newest whole checkpoint in the folder of the run, or the initial state of the seed where it has none.
    Newest,
    /// The initial state of the seed.
    #[default]
    Seed,
    /// These weights, as [`state_from_checkpoint`](halite_bundle::init::state_from_checkpoint) reads them, with a new optimizer.
    Weights(PathBuf),
    /// The state in which an earlier run ended: a file, the index of parts, the folder of a checkpoint, or that of a run, of which it
    /// is the newest one.
    State(PathBuf),
}
