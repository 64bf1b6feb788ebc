//! A training loss that is too good.

use super::Episode;
use super::window::Window;
use crate::StepRecord;
use halite_support::{Diagnostic, codes};

/// Updates over which the loss is taken: one easy batch among them says nothing.
const UPDATES: usize = 20;

/// Compares the median training loss with a floor that is known of the data, such as their entropy.
///
/// False alarms: the median of 20 is below the floor only where 10 updates are. Of updates that are each below it with probability
/// `p`, that is at most `C(20, 10) p^10`: for `p = 0.05` less than 2 in 10^8 updates.
#[derive(Debug)]
pub(super) struct LossFloor {
    floor: f64,
    last: Window,
    episode: Episode,
}

impl LossFloor {
    pub(super) fn new(floor: f64) -> Self {
        Self { floor, last: Window::new(UPDATES), episode: Episode::default() }
    }

    pub(super) fn stepped(&mut self, record: &StepRecord) -> Option<Diagnostic> {
        if self.floor <= 0.0 || !record.loss().is_finite() {
            return None;
        }
        self.last.push(record.loss());
        let median = self.last.median();
        let holds = self.last.is_full() && median < self.floor;
        self.episode.begins(holds).then(|| self.warning(record.step, median))
    }

    fn warning(&self, step: u64, median: f64) -> Diagnostic {
        let message = format!(
            "the training loss is too good: at update {step} its median over {UPDATES} updates is {median:.4} nats, the \
             floor is {}",
            self.floor
        );
        Diagnostic::warning(codes::ALARM, message)
            .note("either tokens see what they are to predict, or the data repeat themselves")
            .help("run `halite check`, look at what is trained on, or correct `metrics.loss_floor`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amount::Amount;

    #[test]
    fn a_loss_below_the_floor_is_told_once_and_again_after_it_rose() {
        let mut floor = LossFloor::new(1.0);
        let loss = |step: u64| if (50..100).contains(&step) || step >= 150 { 0.9 } else { 1.1 };
        let record = |step| StepRecord {
            step,
            seen: Amount::Tokens(0),
            metrics: [("loss".to_owned(), loss(step))].into_iter().collect(),
        };
        let told: Vec<u64> = (1..200).filter(|&step| floor.stepped(&record(step)).is_some()).collect();
        assert_eq!(told, [60, 160]);
    }
}
