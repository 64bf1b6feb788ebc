//! Automatic recovery of a run: restarts and rollbacks.

use crate::schema::Kind;
use crate::table;

table! {
    /// The failures at which a run goes back to a checkpoint of its own by itself, in place of ending.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct RecoveryOptions {
        /// How often it goes on from its newest checkpoint where the device fails, before there is a newer one.
        pub restarts: u32 = 0,
        /// How often, in all, it goes back to a checkpoint before an update that spoils it, and skips all batches from there to that of
        /// the update. An update spoils it that would end it as diverged, or whose loss jumps.
        pub rollbacks: u32 = 0,
        /// The loss of an update jumps where it is more than this many nats above the median of the 20 updates before it; 0 heeds no
        /// jumps. A jump without a checkpoint to go back to changes nothing.
        pub loss_jump: f64 as Kind::NOT_NEGATIVE = 0.0,
        /// By how many updates, at least, the checkpoint is before the update that spoils the run. A loss that jumps may come from
        /// updates before it.
        pub distance: u32 as Kind::DEGREE = 1,
    }
}

impl RecoveryOptions {
    /// Whether all is as it is by default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
