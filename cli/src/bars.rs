//! Progress bars.

use crate::context::Context;
use crate::{study, terminal};
use halite_support::text::plain;
use halite_train::{EvalRecord, Observer, StepRecord};
use indexmap::IndexMap;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
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

/// A training run as a bar with loss and tokens per second; as a line every so many steps when nobody watches.
pub(super) struct TrainBar {
    bar: ProgressBar,
    /// Steps between lines; `None` shows none.
    every: Option<u64>,
    steps: u64,
    tokens_per_step: u64,
    first: u64,
    since: Instant,
    held_out: String,
}

impl TrainBar {
    pub(super) fn new(context: &Context, steps: u64, tokens_per_step: u64) -> Self {
        let template = "{bar:10.cyan/black.dim} {percent:>3}% {eta:>4}  {pos}/{len}  {wide_msg}";
        let lines = context.shows_progress() && !terminal::is_interactive();
        Self {
            bar: bar(context, steps, template),
            every: lines.then_some((steps / 10).max(1)),
            steps,
            tokens_per_step,
            first: 0,
            since: Instant::now(),
            held_out: String::new(),
        }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn tokens_per_second(&self, step: u64) -> f64 {
        let seconds = self.since.elapsed().as_secs_f64().max(1e-9);
        ((step - self.first) * self.tokens_per_step) as f64 / seconds
    }
}

impl Observer for TrainBar {
    fn started(&mut self, step: u64) {
        self.first = step;
        self.since = Instant::now();
        self.bar.set_position(step);
    }

    fn stepped(&mut self, record: &StepRecord) {
        let rate = crate::table::short(self.tokens_per_second(record.step) as u64);
        let learning_rate =
            record.metrics.get("learning_rate").map(|rate| format!("  lr {rate:.2e}")).unwrap_or_default();
        let message = format!("loss {:.4}{}{learning_rate}  {rate} tokens/s", record.loss(), self.held_out);
        self.bar.set_position(record.step);
        if self.every.is_some_and(|every| record.step.is_multiple_of(every)) {
            terminal::say(&format!("step {:>5}/{}  {message}", record.step, self.steps));
        }
        self.bar.set_message(message);
    }

    fn evaluated(&mut self, record: &EvalRecord) {
        self.held_out = format!("  held out {:.4}", record.held_out_loss);
        if self.every.is_some() {
            let (step, steps, loss) = (record.step, self.steps, record.held_out_loss);
            terminal::say(&format!("step {step:>5}/{steps}  held-out loss {loss:.4}"));
        }
    }
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
    held_out: f64,
    /// The end of what was last heard of; what is heard of next began then.
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
            held_out: f64::NAN,
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
        self.bar.set_message(plain(&format!("{recipe}, seed {seed}: loss {loss:.4}  held out {held_out:.4}")));
        self.since = Instant::now();
    }

    fn evaluated(&mut self, record: &EvalRecord) {
        self.held_out = record.held_out_loss;
        self.since = Instant::now();
    }
}

impl study::Observer for NumericsBar {
    fn compiling(&mut self, recipe: &str) {
        self.bar.set_message(plain(&format!("{recipe}: compiling with XLA")));
    }

    fn run_started(&mut self, recipe: &str, seed: u64) {
        (self.recipe, self.seed) = (recipe.to_owned(), seed);
    }

    fn compared(&mut self, _: &study::GradientErrors) {
        self.since = Instant::now();
    }

    fn run_ended(&mut self, diverged: Option<u64>) {
        self.runs += 1;
        self.bar.set_position(self.runs * self.steps);
        if self.shows_lines {
            let Self { recipe, seed, held_out, .. } = &*self;
            let end = match diverged {
                Some(step) => format!("diverged after update {step}"),
                None => format!("held-out loss {held_out:.4}"),
            };
            terminal::say(&format!("{recipe}, seed {seed}: {end}"));
        }
    }
}
