//! Options of libnrt.

use crate::GiveUp;
use std::time::Duration;

/// Options of libnrt: `NrtOptions { call_timeout: .., ..NrtOptions::default() }`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NrtOptions {
    /// How long a run of a program or a copy may take before it counts as hung. The library has a limit of its own,
    /// `NEURON_RT_EXEC_TIMEOUT`; this one is for where it does not come back, and is to be longer.
    pub call_timeout: Duration,
    /// The same for the start of the runtime and for loading a program. Ranks wait for one another while they load.
    pub load_timeout: Duration,
    /// The rank of this process, and the number of ranks. Programs of several ranks are loaded for collectives, and only as many
    /// processes as these load them.
    pub rank: (u32, u32),
    /// The number of stages that the ranks are of, as many ranks each, one stage after another. A program is of the ranks of one stage,
    /// which find one another at an address of their own.
    pub stages: u32,
    /// A signal that ends the wait for a call early. A process has one runtime, so the signal of the user that starts it counts.
    pub give_up: GiveUp,
}

impl NrtOptions {
    /// The rank of this process in its stage, and the number of ranks there.
    pub(super) fn in_stage(&self) -> (u32, u32) {
        let (rank, world) = self.rank;
        let ranks = world / self.stages.max(1);
        (rank.checked_rem(ranks).unwrap_or(0), ranks)
    }
}

impl Default for NrtOptions {
    /// A single rank; 11 minutes for a call, a minute more than the library takes by default on Trainium (the guide), and an hour to load.
    fn default() -> Self {
        let (call_timeout, load_timeout) = (Duration::from_secs(660), Duration::from_secs(3600));
        Self { call_timeout, load_timeout, rank: (0, 1), stages: 1, give_up: GiveUp::default() }
    }
}
