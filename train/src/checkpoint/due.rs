//! Schedules of checkpoints: every so many updates, or every so many minutes.

use halite_recipe::CheckpointOptions;
use std::time::{Duration, Instant};

/// Whether an action that is repeated every `every` updates is due after update `step`; 0 is never.
pub fn is_due(step: u64, every: u64) -> bool {
    every > 0 && step.is_multiple_of(every)
}

/// Timer of checkpoints that are saved every so many minutes.
#[derive(Debug)]
pub(crate) struct Due {
    between: Duration,
    last: Instant,
}

impl Due {
    /// A timer that starts now.
    pub(crate) fn new(options: &CheckpointOptions, now: Instant) -> Self {
        Self { between: Duration::from_secs(options.minutes.saturating_mul(60)), last: now }
    }

    /// Whether the minutes since the last checkpoint are over.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        !self.between.is_zero() && now.saturating_duration_since(self.last) >= self.between
    }

    /// Restarts the timer: a checkpoint was begun.
    pub(crate) fn begun(&mut self, now: Instant) {
        self.last = now;
    }
}
