//! A whole training run: so many tokens, with failures.

use halite_plan::failures::{Failures, Run};
use halite_plan::{Bill, Cost};

/// Seconds between failures of one instance, as an exponential mean. Meta's run of Llama 3 405B had 419 unexpected interruptions in 54 days
/// on 16,384 GPUs, which are 2,048 instances (arXiv 2407.21783, section 3.3.4): one in 264 days of an instance.
const BETWEEN_FAILURES_OF_AN_INSTANCE: f64 = 54.0 * 86_400.0 * 2048.0 / 419.0;
/// Seconds that training stands still for a checkpoint: it copies its state to the host and writes beside training.
const SAVE: f64 = 30.0;
/// Seconds from a failure to the first update after it: replacing an instance, loading programs and state.
const RESTART: f64 = 900.0;

/// A run on so many tokens.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Whole {
    /// The tokens.
    pub(super) tokens: f64,
    /// Seconds of updates alone.
    pub(super) work: f64,
    /// The failures that are presumed.
    pub(super) failures: Failures,
    /// With checkpoints and failures.
    pub(super) run: Run,
}

impl Whole {
    /// US dollars of all of it under a contract.
    pub(super) fn dollars(&self, cost: &Cost) -> f64 {
        cost.hour * self.run.expected / 3600.0
    }
}

/// The run of a bill on so many tokens.
pub(super) fn whole(bill: &Bill, tokens: f64) -> Whole {
    let work = tokens / bill.tokens_per_second();
    let between = BETWEEN_FAILURES_OF_AN_INSTANCE / bill.instances as f64;
    let failures = Failures { between, save: SAVE, restart: RESTART };
    Whole { tokens, work, failures, run: failures.run(work) }
}
