//! When a run saves a checkpoint, and which it keeps.

use halite_recipe::CheckpointOptions;
use std::time::{Duration, Instant};

/// Whether something that happens every so many updates happens after this one; 0 is never.
pub fn is_due(step: u64, every: u64) -> bool {
    every > 0 && step.is_multiple_of(every)
}

/// Tells when minutes are over.
#[derive(Debug)]
pub(crate) struct Due {
    between: Duration,
    last: Instant,
}

impl Due {
    /// From now on.
    pub(crate) fn new(options: &CheckpointOptions, now: Instant) -> Self {
        Self { between: Duration::from_secs(options.minutes.saturating_mul(60)), last: now }
    }

    /// Whether the minutes since the last checkpoint are over.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        !self.between.is_zero() && now.saturating_duration_since(self.last) >= self.between
    }

    /// A checkpoint was begun.
    pub(crate) fn begun(&mut self, now: Instant) {
        self.last = now;
    }
}
