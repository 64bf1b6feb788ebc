//! One run under way: its step and what it measured.

use super::programs::Programs;
use super::{EvalRecord, History, Observer, StepRecord, TrainStep, divergence};
use halite_support::Diagnostics;
use halite_tensor::HostTensor;

/// Updates that are skipped one after another before a run ends.
const MAX_SKIPPED: usize = 100;

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

    /// The batch of an update, its number counted from 1.
    pub fn batch(&self, step: u64) -> HostTensor {
        self.programs.batch(self.seed, step)
    }

    /// Tokens that an update predicts.
    pub fn tokens(&self) -> u64 {
        let shape = self.programs.shape;
        (shape.rows * (shape.width - 1)) as u64
    }

    /// Makes one update from its [`batch`](Self::batch); `step` is its number from 1.
    ///
    /// # Errors
    /// As [`TrainStep::step`]: then nothing is measured. When this is the hundredth update in a row that is skipped.
    pub fn step(&mut self, step: u64, batch: &HostTensor, observer: &mut dyn Observer) -> Result<(), Diagnostics> {
        let metrics = self.step.step(batch)?.into_map();
        let record = StepRecord { step, tokens: step * self.tokens(), metrics };
        observer.stepped(&record);
        self.history.steps.push(record);
        let skipped = self.history.steps.iter().rev().take_while(|record| !record.is_finite()).count();
        if skipped >= MAX_SKIPPED {
            return Err(divergence::of_skipped(skipped, step).into());
        }
        Ok(())
    }

    /// Measures the loss on held-out text after `step` updates, when something is held out.
    ///
    /// # Errors
    /// As [`TrainStep::eval`]; when the loss is not finite.
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
        if !record.held_out_loss.is_finite() {
            return Err(divergence::of_evaluation(step, record.held_out_loss).into());
        }
        Ok(())
    }
}
