//! A training loss that falls below the held-out loss at once.

use super::Episode;
use super::window::Window;
use crate::{EvalRecord, StepRecord};
use halite_support::{Diagnostic, codes};

/// Updates before an evaluation over which the training loss is taken, and the fewest that say something.
const UPDATES: usize = 100;
const FEWEST: usize = 20;

/// Compares how far the training loss is below the held-out loss with how far it was at the evaluation before.
///
/// Of several data sets that are held out, it looks at the first.
///
/// A model that overfits comes to be below it little by little; one that is given its labels, or data a second time, at once.
///
/// False alarms: with losses of updates that are normal with standard deviation `s`, the difference of two gaps has at most
/// `s sqrt(pi / 20)`, `0.40 s`. Half a nat is 6.3 standard deviations of it for `s = 0.2`: less than one in 10^9 evaluations.
#[derive(Debug)]
pub(super) struct LossGap {
    limit: f64,
    /// Training losses since the evaluation before.
    since: Window,
    /// The amount by which the training loss was below the held-out loss then; at least 0.
    before: f64,
    episode: Episode,
}

impl LossGap {
    pub(super) fn new(limit: f64) -> Self {
        Self { limit, since: Window::new(UPDATES), before: 0.0, episode: Episode::default() }
    }

    pub(super) fn stepped(&mut self, record: &StepRecord) {
        if record.loss().is_finite() {
            self.since.push(record.loss());
        }
    }

    pub(super) fn evaluated(&mut self, record: &EvalRecord) -> Option<Diagnostic> {
        if self.limit <= 0.0 || self.since.len() < FEWEST {
            return None;
        }
        let gap = record.held_out_loss - self.since.median();
        self.since.clear();
        let before = std::mem::replace(&mut self.before, gap.max(0.0));
        self.episode.begins(gap - before > self.limit).then(|| warning(record, gap, before))
    }
}

fn warning(record: &EvalRecord, gap: f64, before: f64) -> Diagnostic {
    let message = format!(
        "the training loss fell below the held-out loss at once: by {gap:.3} nats at update {}, by {before:.3} at the \
         evaluation before",
        record.step
    );
    Diagnostic::warning(codes::ALARM, message)
        .note("either tokens see what they are to predict, or data come a second time")
        .help("run `halite check`, and look at what was trained on since the evaluation before")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amount::{Amount, HeldOutCount};

    /// The evaluations with alarms, of a training loss, with an evaluation every 50 updates.
    fn alarms(train: impl Fn(u64) -> f64, held_out: impl Fn(u64) -> f64) -> Vec<u64> {
        let mut gap = LossGap::new(0.5);
        let mut told = Vec::new();
        for step in 1..=500 {
            let metrics = [("loss".to_owned(), train(step))].into_iter().collect();
            gap.stepped(&StepRecord { step, seen: Amount::Tokens(0), metrics });
            let eval = EvalRecord {
                step,
                data: String::new(),
                held_out_loss: held_out(step),
                counted: HeldOutCount::Tokens(1),
                metrics: [].into(),
            };
            if step % 50 == 0 && gap.evaluated(&eval).is_some() {
                told.push(step);
            }
        }
        told
    }

    #[test]
    fn a_fall_at_once_is_told_and_a_slow_one_is_not() {
        let learned = |step: u64| 2.0 + 4.0 * (-(step as f64) / 40.0).exp();
        assert_eq!(alarms(learned, learned), [0; 0]);
        let overfits = |step: u64| learned(step) - 2e-3 * step as f64;
        assert_eq!(alarms(overfits, learned), [0; 0]);
        let leaks = |step: u64| if step > 300 { learned(step) - 1.5 } else { learned(step) };
        assert_eq!(alarms(leaks, learned), [350]);
    }
}
