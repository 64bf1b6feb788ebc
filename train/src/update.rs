//! One run under way: its step and what it measured.

use super::programs::Programs;
use super::{EvalRecord, History, Observer, StepRecord, TrainStep};
use halite_support::{Diagnostic, Diagnostics, codes};

/// Updates that are skipped one after another before a run ends.
const MAX_SKIPPED: usize = 100;

fn diverged(message: String) -> Diagnostic {
    Diagnostic::error(codes::DIVERGED, message).help(
        "lower the learning rate, lengthen the warm-up, or set `clip_norm`; where a narrow type may be the cause, \
         `halite check` names it",
    )
}

/// A run under way.
pub struct Run<'a> {
    programs: &'a Programs<'a>,
    seed: u64,
    /// The step with the state of this run.
    pub step: TrainStep,
    /// What was measured so far.
    pub history: History,
}

impl<'a> Run<'a> {
    /// A run of a step that has its state; the seed is that of the order of data.
    pub fn new(programs: &'a Programs<'a>, seed: u64, step: TrainStep) -> Self {
        Self { programs, seed, step, history: History::default() }
    }

    /// Makes one update; `step` is its number from 1.
    pub fn step(&mut self, step: u64, observer: &mut dyn Observer) -> Result<(), Diagnostics> {
        let shape = self.programs.shape;
        let metrics = self.step.step(&self.programs.batch(self.seed, step))?.into_map();
        let tokens = step * (shape.rows * (shape.width - 1)) as u64;
        let record = StepRecord { step, tokens, metrics };
        observer.stepped(&record);
        self.history.steps.push(record);
        Ok(())
    }

    /// Measures the loss on held-out text after `step` updates, when something is held out.
    pub fn evaluate(&mut self, step: u64, observer: &mut dyn Observer) -> Result<(), Diagnostics> {
        if self.programs.held_out.is_empty() {
            return Ok(());
        }
        let (mut loss, mut count) = (0.0, 0.0);
        for batch in &self.programs.held_out {
            let metrics = self.step.eval(batch)?;
            loss += metrics.loss();
            count += metrics.get("count").unwrap_or(f64::NAN);
        }
        let record = EvalRecord { step, held_out_loss: loss / count, held_out_tokens: count as u64 };
        observer.evaluated(&record);
        self.history.evals.push(record);
        Ok(())
    }

    /// Why the run ends here: the last evaluation gave no number, or the last update did, or so many one after another that were
    /// skipped.
    pub fn diverged(&self) -> Option<Diagnostic> {
        let History { steps, evals } = &self.history;
        let last = steps.last()?;
        let bad = steps.iter().rev().take_while(|record| !record.is_finite()).count();
        if evals.last().is_some_and(|record| !record.held_out_loss.is_finite()) {
            return Some(diverged(format!("the loss is not finite after update {}", last.step)));
        }
        let stops = self.step.manifest().recipe.stops_at(last.metrics.get("loss_scale").copied());
        match (stops, bad) {
            (_, 0) => None,
            (true, _) => {
                let what = if last.loss().is_finite() { "the norm of the gradient" } else { "the loss" };
                Some(diverged(format!("{what} is not finite after update {}", last.step)))
            }
            (false, bad) if bad < MAX_SKIPPED => None,
            (false, bad) => {
                let message =
                    format!("the last {bad} updates up to {} were skipped: none had finite gradients", last.step);
                Some(diverged(message))
            }
        }
    }
}
