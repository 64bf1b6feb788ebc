//! What the test suites share.

pub mod cases;
pub mod xla;
