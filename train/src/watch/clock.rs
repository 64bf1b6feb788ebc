//! The time of a run, by its parts.

use super::TimeRecord;
use crate::amount::Amount;
use std::time::{Duration, Instant};

/// A part of a run that takes time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// Waiting for a batch.
    Data,
    /// An update: copying its batch, running it, reading its metrics.
    Step,
    /// The loss on held-out data.
    Evaluation,
    /// Writing files: state, metrics and pages.
    Writing,
}

/// Sums the time of each part. It never runs backwards, whatever happens to the time of day.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    last: Instant,
    spent: [Duration; 4],
}

impl Default for Clock {
    fn default() -> Self {
        Self { last: Instant::now(), spent: [Duration::ZERO; 4] }
    }
}

impl Clock {
    /// Adds the time since the last call to this part.
    pub(super) fn spent(&mut self, part: Part) {
        let now = Instant::now();
        self.spent[part as usize] += now - self.last;
        self.last = now;
    }

    /// The times of an update on `seen` data, with those of all since the previous one; counting starts anew.
    pub(super) fn record(&mut self, step: u64, seen: Amount) -> TimeRecord {
        let seconds = |part: Part| self.spent[part as usize].as_secs_f64();
        let record = TimeRecord {
            step,
            seen,
            data: seconds(Part::Data),
            compute: seconds(Part::Step),
            evaluation: seconds(Part::Evaluation),
            writing: seconds(Part::Writing),
            mfu: None,
        };
        self.spent = [Duration::ZERO; 4];
        record
    }
}
