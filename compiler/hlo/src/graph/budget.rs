//! The limit on the work for a module whose calls are entered, whatever module it is: a small file can stand for a huge program, by
//! calls of calls.

use halite_support::{Diagnostic, Result, codes};

/// Visits of values, about a second; steps of 7B parameters take up to a quarter.
const MAX_WORK: u64 = 1 << 26;
/// The number of visits that an entry of a table counts as, so that tables take some hundred megabytes at most.
const ENTRY: u64 = 16;

/// The work so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Budget {
    work: u64,
}

impl Budget {
    /// Counts entries that a table gets.
    ///
    /// # Errors
    /// When the budget is used up.
    pub fn take_entries(&mut self, count: u32) -> Result<()> {
        self.take_visits(u64::from(count) * ENTRY)
    }

    /// Counts values that are looked at.
    ///
    /// # Errors
    /// When the budget is used up.
    pub fn take_visits(&mut self, count: u64) -> Result<()> {
        self.work = self.work.saturating_add(count);
        if self.work <= MAX_WORK {
            Ok(())
        } else {
            Err(Self::exceeded("too many instructions to estimate what it needs"))
        }
    }

    /// Says that the module has too much of something.
    pub fn exceeded(what: &str) -> Diagnostic {
        let message = format!("the HLO module has, with each call entered, {what}");
        Diagnostic::error(codes::FILE, message)
            .help("give a module that `halite hlo check` takes, with fewer calls or layers")
    }
}
