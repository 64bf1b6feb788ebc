//! Going back before an update that spoils a run, past the batches that led to it.

use super::checkpoint::Checkpoint;
use super::events::Event;
use super::record::Record;
use super::rollback::Rollback;
use super::saver::Saver;
use super::update::Run;
use super::watch::Watch;
use super::{History, Observer, RunFiles, TrainOptions};
use halite_recipe::RecoveryOptions;
use halite_support::{Diagnostic, Diagnostics, Result, codes};

/// The number of updates before one whose median loss its own is compared with.
const WINDOW: usize = 20;

/// The rollbacks of a run, as many as its recipe allows.
pub(super) struct Rollbacks<'a> {
    options: RecoveryOptions,
    output: &'a RunFiles,
    record: &'a Record,
}

impl<'a> Rollbacks<'a> {
    /// The rollbacks of a run.
    pub(super) fn new(options: &TrainOptions, output: &'a RunFiles, record: &'a Record) -> Self {
        Self { options: options.recovery, output, record }
    }

    /// Checks the loss of the last update.
    ///
    /// # Errors
    /// When the loss jumps, and the run can go back.
    pub(super) fn heed(&self, run: &Run<'_>, saver: &mut Saver<'_>, watch: &mut Watch<'_>) -> Result<()> {
        let Some(jump) = jump(&run.history, self.options.loss_jump) else { return Ok(()) };
        saver.wait(watch);
        if self.target(run).is_some() { Err(jump) } else { Ok(()) }
    }

    /// The checkpoint to go on from after these errors. It becomes the newest one, with the current position in the data. This is
    /// reported and written down. `None` where the run does not go back.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub(super) fn next(
        &self,
        run: &mut Run<'_>,
        errors: &Diagnostics,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Checkpoint>> {
        let spoils = |error: &Diagnostic| [codes::DIVERGED, codes::ALARM].contains(&error.code());
        let Some(error) = errors.first().filter(|_| errors.iter().all(spoils)) else { return Ok(None) };
        let Some(checkpoint) = self.target(run) else { return Ok(None) };
        let (update, to) = (run.step.attempted(), checkpoint.update);
        let rollback = Rollback::new(&run.rollbacks, update, to);
        run.rollbacks.push(rollback.clone());
        let [first, last] = rollback.batches;
        let record = run.history.steps.last().filter(|record| record.step == update);
        let loss = record.map(|record| record.loss()).filter(|loss| loss.is_finite());
        self.output.add_event(watch, Event::Rollback { rollback, loss, reason: error.message().to_owned() })?;
        let record = self.record.at(to, run.data().position(), &run.rollbacks);
        self.output.go_back(&checkpoint, record.to_text()?)?;
        let message = format!("the run goes back to update {to}: {}", error.message());
        watch
            .warned(&Diagnostic::warning(error.code(), message).note(format!("batches {first} to {last} are skipped")));
        Ok(Some(checkpoint))
    }

    /// The checkpoint that a run can go back to after its last update.
    fn target(&self, run: &Run<'_>) -> Option<Checkpoint> {
        let is_left = (run.rollbacks.len() as u64) < u64::from(self.options.rollbacks);
        let until = run.step.attempted().checked_sub(self.options.distance.into()).filter(|_| is_left)?;
        self.output.checkpoints().newest_until(until).checkpoint
    }
}

/// A warning where the loss of the last update exceeds the median of the [`WINDOW`] finite losses before it by more than `limit`. None
/// where there are fewer, or where the limit is 0.
fn jump(history: &History, limit: f64) -> Option<Diagnostic> {
    let (last, before) = history.steps.split_last().filter(|_| limit > 0.0)?;
    let losses = before.iter().rev().map(|record| record.loss()).filter(|loss| loss.is_finite());
    let mut losses: Vec<f64> = losses.take(WINDOW).collect();
    losses.sort_by(f64::total_cmp);
    let median = (losses.len() == WINDOW).then(|| (losses[WINDOW / 2 - 1] + losses[WINDOW / 2]) / 2.0)?;
    let (update, loss) = (last.step, last.loss());
    let message =
        format!("the loss jumps: at update {update} it is {loss:.4}, the median of the {WINDOW} before is {median:.4}");
    (loss - median > limit).then(|| Diagnostic::warning(codes::ALARM, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Amount, StepRecord};

    fn history(losses: impl IntoIterator<Item = f64>) -> History {
        let record = |(index, loss)| StepRecord {
            step: index as u64 + 1,
            seen: Amount::Tokens(1),
            metrics: [("loss".to_owned(), loss)].into_iter().collect(),
        };
        History { steps: losses.into_iter().enumerate().map(record).collect(), evals: Vec::new() }
    }

    #[test]
    fn a_loss_jumps_over_the_median_of_the_twenty_before_it() {
        let noisy = |count: u32| (0..count).map(|update| 2.0 + 0.1 * f64::from(update % 2));
        let after = |count, loss, limit| jump(&history(noisy(count).chain([loss])), limit).is_some();
        // The median is 2.05.
        assert!(after(20, 2.56, 0.5) && !after(20, 2.54, 0.5));
        assert!(!after(19, 9.0, 0.5), "there are too few before it");
        assert!(!after(20, 9.0, 0.0), "nobody asks");
        let with_a_gap = noisy(19).chain([f64::NAN, 2.0, 9.0]);
        assert!(jump(&history(with_a_gap), 0.5).unwrap().message().contains("at update 22 it is 9.0000"));
    }
}
