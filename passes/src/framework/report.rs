//! Reports of the runner on each pass that ran.

use crate::framework::pass::Changed;
use halite_support::Name;
use std::time::Duration;

/// The report of one run of one pass.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PassReport {
    /// The name of the pass.
    pub name: Name,
    /// Whether it counts for the limit.
    pub optimization: bool,
    /// Time in the pass itself.
    pub time: Duration,
    /// Time of the verification after it.
    pub verify_time: Duration,
    /// Whether it changed the module.
    pub changed: Changed,
    /// Instructions of all functions afterwards.
    pub insts: usize,
}
