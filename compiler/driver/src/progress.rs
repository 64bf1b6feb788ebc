//! Telling the caller how far long work is.

/// Hears how far long work is. Every method has a default that does nothing.
pub trait Progress {
    /// A stage of `total` units begins, e.g. passes or megabytes; 0 when the number is not known.
    fn begin(&mut self, _stage: &str, _total: u64) {}

    /// `done` units of the stage are done; `note` says what is being worked on and may be empty.
    fn advance(&mut self, _done: u64, _note: &str) {}

    /// The stage is over.
    fn end(&mut self) {}
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {}
