//! Options of the meeting of processes.

use halite_support::{Diagnostic, codes};
use std::time::Duration;

/// The rank of this process, and the address where all meet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PeerOptions {
    /// The rank of this process, from 0. Rank 0 leads.
    pub rank: usize,
    /// The number of processes, at least two.
    pub world: usize,
    /// The address of rank 0, as `HOST:PORT`.
    pub address: String,
    /// The time to wait for the others, at the start and at every exchange.
    pub patience: Duration,
    /// The secret of a launch: known to all its processes and to nobody else, of at most a few hundred bytes. It is sent over the
    /// network unencrypted.
    pub secret: String,
}

impl PeerOptions {
    /// The error that the processes do not meet at the address, with the reason.
    pub(super) fn at(&self, reason: &str) -> Diagnostic {
        let Self { rank, world, address, .. } = self;
        apart(&format!("rank {rank} of {world} does not meet the others at `{address}`: {reason}"))
    }
}

/// The error that not all processes meet.
pub(super) fn apart(reason: &str) -> Diagnostic {
    Diagnostic::error(codes::RANKS_APART, reason)
}
