//! Gradients that grow.

use super::Episode;
use super::window::Window;
use crate::StepRecord;
use halite_support::{Diagnostic, codes};

/// Updates whose norms are compared with those of as many before.
const UPDATES: usize = 100;

/// Compares the median norm of the gradient over 100 updates with that over the 100 before.
///
/// False alarms: of norms that are independent and log-normal with standard deviation `s` of their logarithm, the logarithm of the
/// median of `n` is normal with standard deviation `s sqrt(pi / 2n)`, so that that of the quotient of two has `s sqrt(pi / n)`, at 100
/// updates `0.177 s`. For `s = 0.5`, where one update in six is off by more than a factor of 1.6, a quotient above 2 is 7.8 standard
/// deviations away: with the union bound, less than one alarm in 10^14 updates.
#[derive(Debug)]
pub(super) struct GradientRise {
    limit: f64,
    last: Window,
    before: Window,
    episode: Episode,
}

impl GradientRise {
    pub(super) fn new(limit: f64) -> Self {
        Self { limit, last: Window::new(UPDATES), before: Window::new(UPDATES), episode: Episode::default() }
    }

    pub(super) fn stepped(&mut self, record: &StepRecord) -> Option<Diagnostic> {
        let norm = *record.metrics.get("grad_norm").filter(|norm| norm.is_finite() && self.limit > 0.0)?;
        if let Some(older) = self.last.push(norm) {
            self.before.push(older);
        }
        if !self.before.is_full() {
            return None;
        }
        let (last, before) = (self.last.median(), self.before.median());
        self.episode.begins(last > self.limit * before).then(|| warning(record.step, last, before))
    }
}

fn warning(step: u64, last: f64, before: f64) -> Diagnostic {
    let message = format!(
        "the norm of the gradient rises: at update {step} its median over {UPDATES} updates is {last:.3}, {:.1} times what \
         it was in the {UPDATES} before",
        last / before
    );
    Diagnostic::warning(codes::ALARM, message).note("a run often diverges after such a rise").help(
        "lower the learning rate, lengthen the warm-up or clip the gradients, and go on from a state before the rise",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amount::Amount;
    use halite_bundle::Stream;

    /// The updates with alarms, of log-normal norms around a level.
    fn alarms(updates: u64, deviation: f64, level: impl Fn(u64) -> f64) -> Vec<u64> {
        let stream = Stream::new(11, "norms");
        let mut rise = GradientRise::new(2.0);
        let norm = |step: u64| level(step) * (deviation * stream.normal_pair(step)[0]).exp();
        let record = |step| StepRecord {
            step,
            seen: Amount::Tokens(0),
            metrics: [("grad_norm".to_owned(), norm(step))].into_iter().collect(),
        };
        (1..=updates).filter(|&step| rise.stepped(&record(step)).is_some()).collect()
    }

    #[test]
    fn noise_raises_none_and_a_rise_raises_one() {
        assert_eq!(alarms(20_000, 0.5, |_| 0.3), [0; 0]);
        let found = alarms(1_000, 0.5, |step| if step > 500 { 0.9 } else { 0.3 });
        assert!(matches!(found[..], [first] if (540..600).contains(&first)), "{found:?}");
        // At three times the noise the bound says nothing, and there are some: the law can fail.
        assert!(!alarms(20_000, 2.0, |_| 0.3).is_empty());
    }

    #[test]
    fn updates_without_a_finite_norm_are_passed_over() {
        assert_eq!(alarms(400, 0.0, |step| if step > 200 && step % 2 == 0 { f64::INFINITY } else { 1.0 }), [0; 0]);
    }
}
