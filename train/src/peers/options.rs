//! Where processes meet.

use halite_support::{Diagnostic, codes};
use std::time::Duration;

/// Which process this is, and where all meet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PeerOptions {
    /// The number of this process, from 0: that of its rank. The first one leads.
    pub rank: usize,
    /// How many there are, at least two.
    pub world: usize,
    /// `HOST:PORT` of the first one.
    pub address: String,
    /// How long is waited for the others, at the start and wherever all have to come to.
    pub patience: Duration,
    /// What all processes of one launch know and nobody else does, in at most a few hundred bytes. It goes over the network as it is.
    pub secret: String,
}

impl PeerOptions {
    /// What is wrong with the place where all meet.
    pub(super) fn at(&self, reason: &str) -> Diagnostic {
        let Self { rank, world, address, .. } = self;
        apart(&format!("rank {rank} of {world} does not meet the others at `{address}`: {reason}"))
    }
}

/// That not all meet.
pub(super) fn apart(reason: &str) -> Diagnostic {
    Diagnostic::error(codes::RANKS_APART, reason)
}
