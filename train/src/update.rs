//! A run under way: its step, its data and its metrics.

use super::amount::Amount;
use super::programs::Programs;
use super::rollback::Rollback;
use super::{EvalRecord, History, Observer, StepRecord, TrainStep, divergence};
use crate::metrics::Metrics;
use halite_bundle::tensors::Tensors;
use halite_data::{Dataset, Position, Skipped};
use halite_support::{Diagnostic, Diagnostics, codes};
use std::collections::BTreeMap;

/// Updates that are skipped one after another before a run ends.
const MAX_SKIPPED: usize = 100;

/// A run under way.
pub struct Run<'a> {
    programs: &'a Programs,
    data: Box<dyn Dataset>,
    /// For each reason for leaving data out, the number of pieces that were left out when it was last reported.
    told: BTreeMap<String, u64>,
    /// The position in the data after the updates that were made.
    pub position: Position,
    /// The number of times that all of the data were given.
    epochs: u64,
    /// The rollbacks of the run.
    pub(super) rollbacks: Vec<Rollback>,
    /// The step with the state of this run.
    pub step: TrainStep,
    /// The metrics so far.
    pub history: History,
}

impl<'a> Run<'a> {
    /// A run of a step that has its state, on data from where they are.
    pub fn new(programs: &'a Programs, data: Box<dyn Dataset>, step: TrainStep) -> Self {
        let position = data.position();
        let (epochs, told, rollbacks, history) = (data.epochs(), BTreeMap::new(), Vec::new(), History::default());
        Self { programs, data, told, position, epochs, rollbacks, step, history }
    }

    /// The data, which give the next batch from where they are.
    pub(super) fn data(&mut self) -> &mut dyn Dataset {
        self.data.as_mut()
    }

    /// Goes back to a state, the data being where it was.
    ///
    /// # Errors
    /// As [`TrainStep::set_state`].
    pub(super) fn go_back(&mut self, state: Tensors, rollbacks: Vec<Rollback>) -> Result<(), Diagnostics> {
        self.step.set_state(state)?;
        self.rollbacks = rollbacks;
        self.position = self.data.position();
        self.history.truncate(self.step.attempted());
        Ok(())
    }

    /// The batch of the next update.
    ///
    /// # Errors
    /// As [`Dataset::next`].
    pub fn batch(&mut self) -> Result<Tensors, Diagnostics> {
        let feed = &self.programs.feed;
        feed.batch(self.data.next(feed.rows)?)
    }

    /// The amount of data in an update.
    pub(super) fn amount(&self) -> Amount {
        self.programs.feed.amount
    }

    /// Reports data that were left out: each reason when it first comes up and, at the end of a run, how often it came up.
    pub(super) fn tell_skipped(&mut self, is_end: bool, observer: &mut dyn Observer) {
        for Skipped { reason, count, example } in self.data.skipped() {
            let place = format!("{reason}, first at {example}");
            if self.told.get(&place).is_some_and(|told| !is_end || *told == count) {
                continue;
            }
            let message = format!("left out of the data, {count} up to here: {reason}");
            observer.warned(&Diagnostic::warning(codes::DATA, message).note(format!("first at {example}")));
            self.told.insert(place, count);
        }
    }

    /// Makes one update from a [`batch`](Self::batch); `step` is its number from 1.
    ///
    /// # Errors
    /// As [`TrainStep::step`]: then nothing is measured. When this is the hundredth update in a row that is skipped.
    pub fn step(&mut self, step: u64, batch: &Tensors, observer: &mut dyn Observer) -> Result<(), Diagnostics> {
        let metrics = self.step.step(batch)?.into_map();
        self.position = self.data.position();
        let (amount, epochs) = (self.amount(), self.data.epochs());
        if epochs > self.epochs {
            observer.read_all(epochs);
            if step == 1 {
                observer.warned(&too_few(amount));
            }
        }
        self.epochs = epochs;
        let seen = amount.of_number(step * amount.number());
        let record = StepRecord { step, seen, metrics };
        observer.stepped(&record);
        self.history.steps.push(record);
        let skipped = self.history.steps.iter().rev().take_while(|record| !record.is_finite()).count();
        if skipped >= MAX_SKIPPED {
            return Err(divergence::of_skipped(skipped, step).into());
        }
        Ok(())
    }

    /// Measures the loss on all that is held out after `step` updates.
    ///
    /// # Errors
    /// As [`TrainStep::eval`]; when a loss is not finite.
    pub fn evaluate(&mut self, step: u64, observer: &mut dyn Observer) -> Result<(), Diagnostics> {
        for held_out in &self.programs.held_out {
            let mut all = Metrics::default();
            for batch in &held_out.batches {
                all.add(&self.step.eval(batch)?);
            }
            let record = EvalRecord::new(step, held_out.name.clone(), &all, self.amount())?;
            observer.evaluated(&record);
            let held_out_loss = record.held_out_loss;
            self.history.evals.push(record);
            if !held_out_loss.is_finite() {
                return Err(divergence::of_evaluation(step, held_out_loss).into());
            }
        }
        Ok(())
    }
}

/// A warning about data that the first update takes whole.
fn too_few(amount: Amount) -> Diagnostic {
    let (number, unit) = (amount.number(), amount.unit());
    let message = format!("the training data are no more than the {number} {unit} of one update");
    Diagnostic::warning(codes::DATA, message)
        .note("each update sees the same data, some of them more than once")
        .help("train on more data, or make `batch` or `seq` smaller")
}
