//! Progress bars.

use crate::context::Context;
use crate::{study, terminal};
use halite_page::study::GradientErrors;
use halite_page::{LATEST, of_model, update_seconds};
use halite_support::text::plain;
use halite_train::{Amount, EvalRecord, Observer, StepRecord, TimeRecord};
use indexmap::IndexMap;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A bar of `length` units that hides when nobody watches.
pub(super) fn bar(context: &Context, length: u64, template: &str) -> ProgressBar {
    let watched = context.shows_progress() && terminal::is_interactive();
    let target = if watched { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(length), target);
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars("━╸─"));
    bar
}

/// A line that turns until it is dropped, for work of unknown length.
pub(super) fn spinner(context: &Context, message: &str) -> ProgressBar {
    let spinner = bar(context, 0, "{spinner:.cyan} {wide_msg}");
    spinner.set_message(plain(message));
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}

/// A [`spinner`]; as a line when nobody watches.
pub(super) fn announced(context: &Context, message: &str) -> ProgressBar {
    if context.shows_progress() && !terminal::is_interactive() {
        terminal::say(&plain(message));
    }
    spinner(context, message)
}

/// A training run as a bar with loss, metrics, learning rate and speed; as a line every so many steps when nobody watches.
pub(super) struct TrainBar {
    bar: ProgressBar,
    /// Steps between lines; `None` shows none.
    every: Option<u64>,
    steps: u64,
    /// Time records of the last updates, at most [`LATEST`].
    recent: VecDeque<TimeRecord>,
    /// Updates that this process made.
    heard: usize,
    /// The held-out loss of the last evaluation, as text for the line; empty before the first.
    held_out: String,
}

impl TrainBar {
    pub(super) fn new(context: &Context, steps: u64) -> Self {
        let template = "{bar:10.cyan/black.dim} {percent:>3}%  {pos}/{len}  {wide_msg}";
        let lines = context.shows_progress() && !terminal::is_interactive();
        Self {
            bar: bar(context, steps, template),
            every: lines.then_some((steps / 10).max(1)),
            steps,
            recent: VecDeque::new(),
            heard: 0,
            held_out: String::new(),
        }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// The amount of data seen per second over the last updates and, at the end of a run, the number of these updates.
    pub(super) fn rate(&self) -> Option<(Amount, usize)> {
        let seconds: f64 = self.recent.iter().map(|record| record.data + record.compute).sum();
        let seen: u64 = self.recent.iter().map(|record| record.seen.number()).sum();
        let last = self.recent.back()?;
        Some((last.seen.of_number((seen as f64 / seconds.max(1e-9)) as u64), self.recent.len()))
    }

    /// The mean seconds of the last updates; `None` where no device of the target made them.
    pub(super) fn update_seconds(&self) -> Option<f64> {
        update_seconds(&self.recent)
    }

    /// The speed, and how long the rest of the updates takes with all that comes between them.
    fn speed(&self, step: u64) -> String {
        let Some((rate, _)) = self.rate() else { return String::new() };
        let all = |record: &TimeRecord| record.data + record.compute + record.evaluation + record.writing;
        let each = self.recent.iter().map(all).sum::<f64>() / self.recent.len() as f64;
        let left = Duration::from_secs_f64((each * self.steps.saturating_sub(step) as f64).clamp(0.0, 1e9));
        let left = if step < self.steps { format!("  {} left", HumanDuration(left)) } else { String::new() };
        format!("  {} {}/s{left}", crate::table::short(rate.number()), rate.unit())
    }
}

impl Observer for TrainBar {
    fn started(&mut self, step: u64) {
        self.recent.clear();
        self.heard = 0;
        self.bar.set_position(step);
    }

    fn stepped(&mut self, record: &StepRecord) {
        let metrics: String = of_model(record).map(|(name, value)| format!("  {name} {value:.4}")).collect();
        let learning_rate =
            record.metrics.get("learning_rate").map(|rate| format!("  lr {rate:.2e}")).unwrap_or_default();
        let speed = self.speed(record.step);
        let message = plain(&format!("loss {:.4}{}{metrics}{learning_rate}{speed}", record.loss(), self.held_out));
        self.bar.set_position(record.step);
        if self.every.is_some_and(|every| record.step.is_multiple_of(every)) {
            terminal::say(&format!("step {:>5}/{}  {message}", record.step, self.steps));
        }
        self.bar.set_message(message);
    }

    fn timed(&mut self, record: &TimeRecord) {
        // The first update of a process warms up, and counts only until there is another.
        self.heard += 1;
        if self.recent.len() == LATEST || self.heard == 2 {
            self.recent.pop_front();
        }
        self.recent.push_back(*record);
    }

    fn evaluated(&mut self, record: &EvalRecord) {
        self.held_out = format!("  {}", held_out(record));
        if self.every.is_some() {
            let (step, steps, loss) = (record.step, self.steps, record.held_out_loss);
            let metrics: String = record.metrics.iter().map(|(name, value)| format!("  {name} {value:.4}")).collect();
            terminal::say(&plain(&format!("step {step:>5}/{steps}  held-out loss {loss:.4}{metrics}")));
        }
    }
}

/// The loss of an evaluation, with the update after which it was made: later lines repeat it.
fn held_out(record: &EvalRecord) -> String {
    format!("held out {:.4} (at {})", record.held_out_loss, record.step)
}

/// A study of recipes as one bar over all runs; as a line for each run when nobody watches.
pub(super) struct NumericsBar {
    bar: ProgressBar,
    shows_lines: bool,
    steps: u64,
    tokens_per_step: u64,
    /// Runs that ended.
    runs: u64,
    recipe: String,
    seed: u64,
    /// The record of the last evaluation.
    held_out: Option<EvalRecord>,
    /// The end of the last reported event; the next one began then.
    since: Instant,
    /// Seconds and updates of each recipe, evaluations and comparisons not counted.
    spent: IndexMap<String, (f64, u64)>,
}

impl NumericsBar {
    pub(super) fn new(context: &Context, runs: u64, steps: u64, tokens_per_step: u64) -> Self {
        let template = "{bar:10.cyan/black.dim} {percent:>3}% {eta:>4}  {wide_msg}";
        Self {
            bar: bar(context, runs * steps, template),
            shows_lines: context.shows_progress() && !terminal::is_interactive(),
            steps,
            tokens_per_step,
            runs: 0,
            recipe: String::new(),
            seed: 0,
            held_out: None,
            since: Instant::now(),
            spent: IndexMap::new(),
        }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Tokens of training in a second, by recipe.
    pub(super) fn tokens_per_second(&self) -> IndexMap<String, f64> {
        let rate = |&(seconds, updates): &(f64, u64)| (updates * self.tokens_per_step) as f64 / seconds.max(1e-9);
        self.spent.iter().map(|(recipe, spent)| (recipe.clone(), rate(spent))).collect()
    }
}

impl Observer for NumericsBar {
    fn started(&mut self, _step: u64) {
        self.since = Instant::now();
    }

    fn stepped(&mut self, record: &StepRecord) {
        let (seconds, updates) = self.spent.entry(self.recipe.clone()).or_default();
        *seconds += self.since.elapsed().as_secs_f64();
        *updates += 1;
        self.bar.set_position(self.runs * self.steps + record.step);
        let Self { recipe, seed, held_out, .. } = &*self;
        let loss = record.loss();
        let held_out = held_out.as_ref().map(|record| format!("  {}", self::held_out(record))).unwrap_or_default();
        self.bar.set_message(plain(&format!("{recipe}, seed {seed}: loss {loss:.4}{held_out}")));
        self.since = Instant::now();
    }

    fn evaluated(&mut self, record: &EvalRecord) {
        self.held_out = Some(record.clone());
        self.since = Instant::now();
    }
}

impl study::Observer for NumericsBar {
    fn compiling(&mut self, recipe: &str) {
        self.bar.set_message(plain(&format!("{recipe}: compiling with XLA")));
    }

    fn run_started(&mut self, recipe: &str, seed: u64) {
        (self.recipe, self.seed, self.held_out) = (recipe.to_owned(), seed, None);
    }

    fn compared(&mut self, _: &GradientErrors) {
        self.since = Instant::now();
    }

    fn run_ended(&mut self, diverged: Option<u64>) {
        self.runs += 1;
        self.bar.set_position(self.runs * self.steps);
        if self.shows_lines {
            let Self { recipe, seed, held_out, .. } = &*self;
            let end = match diverged {
                Some(step) => format!("diverged after update {step}"),
                None => format!("held-out loss {:.4}", held_out.as_ref().map_or(f64::NAN, |last| last.held_out_loss)),
            };
            terminal::say(&format!("{recipe}, seed {seed}: {end}"));
        }
    }
}
