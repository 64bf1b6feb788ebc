//! How much an estimate may take, whatever module it is asked of: a small file can stand for a huge program, by calls of calls.

use halite_support::{Diagnostic, Result, codes};

/// Visits of values, about a second; steps of 7B parameters take up to a quarter.
const MAX_WORK: u64 = 1 << 26;
/// What an entry of a table counts in visits, so that tables take some hundred megabytes at most.
const ENTRY: u64 = 16;
/// Bytes of all values: sums of them, of their copies in other types, and small multiples of these fit 64 bits.
const MAX_BYTES: u64 = 1 << 56;

/// What was used so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Budget {
    work: u64,
    bytes: u64,
}

impl Budget {
    /// Counts entries that a table gets.
    ///
    /// # Errors
    /// When the budget is used up.
    pub(super) fn take_entries(&mut self, count: u32) -> Result<()> {
        self.take_visits(u64::from(count) * ENTRY)
    }

    /// Counts values that are looked at.
    ///
    /// # Errors
    /// When the budget is used up.
    pub(super) fn take_visits(&mut self, count: u64) -> Result<()> {
        self.work = self.work.saturating_add(count);
        if self.work <= MAX_WORK { Ok(()) } else { Err(too_large("too many instructions to estimate what it needs")) }
    }

    /// Counts what values hold.
    ///
    /// # Errors
    /// When it is more than any machine has.
    pub(super) fn take_bytes(&mut self, bytes: u64) -> Result<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes <= MAX_BYTES { Ok(()) } else { Err(too_large("values of more bytes than any machine has")) }
    }
}

fn too_large(what: &str) -> Diagnostic {
    let message = format!("the HLO module has, with each call entered, {what}");
    Diagnostic::error(codes::FILE, message)
        .help("give a module that `halite hlo check` takes, with fewer calls or layers")
}
