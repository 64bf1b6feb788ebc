//! Progress of checks: a line for each step, on standard error.

use crate::context::Context;
use crate::neuron::units::spoken;
use crate::terminal;
use halite_selftest::{CheckReport, Observer, Verdict};

pub(super) struct Progress {
    shows: bool,
}

impl Progress {
    pub(super) fn new(context: &Context) -> Self {
        Self { shows: context.shows_progress() }
    }

    fn say(&self, line: &str) {
        if self.shows {
            terminal::say(line);
        }
    }
}

impl Observer for Progress {
    fn begins(&self, name: &str, at: usize, of: usize) {
        self.say(&format!("{at}/{of} {name}"));
    }

    fn does(&self, _: &str, what: &str) {
        self.say(&format!("      {what}"));
    }

    fn done(&self, report: &CheckReport) {
        let verdict = match &report.verdict {
            Verdict::Passed => "passed",
            Verdict::Failed => "FAILED",
            Verdict::NotRun(_) => "not run",
        };
        self.say(&format!("      {verdict} after {}", spoken(report.elapsed())));
    }
}
