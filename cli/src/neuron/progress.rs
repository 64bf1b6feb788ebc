//! Progress of compiles: a line that turns for each compiler at work, or plain lines when nobody watches.

use super::units::spoken;
use crate::context::Context;
use crate::terminal;
use halite_neuron::neuronx::{End, Observer, Outcome, Task};
use halite_support::text::plain;
use indexmap::IndexMap;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

pub(super) struct Progress {
    all: MultiProgress,
    /// The lines of the tasks that are at work, by name.
    bars: Mutex<IndexMap<String, ProgressBar>>,
    shows_lines: bool,
}

impl Progress {
    pub(super) fn new(context: &Context) -> Self {
        let watched = context.shows_progress() && terminal::is_interactive();
        let target = if watched { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Self {
            all: MultiProgress::with_draw_target(target),
            bars: Mutex::new(IndexMap::new()),
            shows_lines: context.shows_progress() && !watched,
        }
    }

    fn show(&self, task: &Task, what: &str) {
        let names = plain(&task.modules().join(", "));
        if self.shows_lines {
            terminal::say(&format!("{names}: {what}"));
        }
        let mut bars = self.bars.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = bars.entry(task.name().to_owned()).or_insert_with(|| {
            let style = ProgressStyle::with_template("{spinner:.cyan} {elapsed:>4}  {wide_msg}");
            let bar = self.all.add(ProgressBar::new_spinner());
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        bar.set_message(format!("{names}: {what}"));
    }
}

impl Observer for Progress {
    fn waiting(&self, task: &Task) {
        self.show(task, "waiting for another process that compiles the same");
    }

    fn compiling(&self, task: &Task) {
        self.show(task, "compiling");
    }

    fn done(&self, outcome: &Outcome) {
        let mut bars = self.bars.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = outcome.modules.first().and_then(|name| bars.shift_remove(name)) {
            bar.finish_and_clear();
        }
        if self.shows_lines {
            let end = match &outcome.end {
                End::Cached(_) => "in the store",
                end => end.name(),
            };
            terminal::say(&format!("{}: {end} after {}", outcome.modules.join(", "), spoken(outcome.elapsed)));
        }
    }
}
