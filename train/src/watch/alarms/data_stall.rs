//! Updates that wait for data.

use super::super::TimeRecord;
use super::Episode;
use super::window::Window;
use halite_support::{Diagnostic, codes};

/// Updates over which time is summed: a pause, such as that of a disk which wakes up, is no stall.
const UPDATES: usize = 100;

/// Seconds for each update, below which waiting is not reported: the scheduling of threads alone takes fractions of that.
const LEAST: f64 = 1e-3;

/// Compares the time that updates wait for data with all that they take. It is measured and not estimated, so that an alarm always
/// says what is so: this share of the time was lost.
#[derive(Debug)]
pub(super) struct DataStall {
    limit: f64,
    data: Window,
    all: Window,
    episode: Episode,
}

impl DataStall {
    pub(super) fn new(limit: f64) -> Self {
        Self { limit, data: Window::new(UPDATES), all: Window::new(UPDATES), episode: Episode::default() }
    }

    pub(super) fn timed(&mut self, record: &TimeRecord) -> Option<Diagnostic> {
        self.data.push(record.data);
        self.all.push(record.data + record.compute);
        let (data, all) = (self.data.sum(), self.all.sum());
        let holds = self.limit > 0.0 && self.data.is_full() && data > self.limit * all && data > LEAST * UPDATES as f64;
        self.episode.begins(holds).then(|| warning(record.step, data, all))
    }
}

fn warning(step: u64, data: f64, all: f64) -> Diagnostic {
    let message = format!(
        "updates wait for data: {:.0}% of the time of the {UPDATES} updates up to {step}, {:.1} ms each",
        100.0 * data / all,
        1e3 * data / UPDATES as f64
    );
    Diagnostic::warning(codes::ALARM, message)
        .help("prepare batches ahead with more threads, or from data that are tokenized before")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amount::Amount;

    fn alarms(data: impl Fn(u64) -> f64) -> Vec<u64> {
        let mut stall = DataStall::new(0.1);
        let time = |step| TimeRecord {
            step,
            seen: Amount::Tokens(1),
            data: data(step),
            compute: 0.1,
            evaluation: 5.0,
            writing: 5.0,
            mfu: None,
        };
        (1..=400).filter(|&step| stall.timed(&time(step)).is_some()).collect()
    }

    #[test]
    fn a_stall_is_told_once_and_a_pause_is_none() {
        assert_eq!(alarms(|step| if step == 150 { 1.0 } else { 0.001 }), [0; 0]);
        // 2 ms of waiting and more beside 100 ms: more than a tenth once 98 of 100 updates wait 12 ms.
        assert_eq!(alarms(|step| if step > 200 { 0.012 } else { 0.0 }), [293]);
        assert_eq!(alarms(|_| 0.0005), [0; 0]);
    }
}
