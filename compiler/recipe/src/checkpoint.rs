//! Checkpoints: when a run saves its state, and which older ones stay.

use crate::schema::Kind;
use crate::table;

table! {
    /// When a run saves checkpoints, and which of them stay. It always saves its last state.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct CheckpointOptions {
        /// Updates between checkpoints; 0 does not count them.
        pub every: u64 = 0,
        /// Minutes between checkpoints, by a monotonic clock; 0 turns it off.
        pub minutes: u64 = 0,
        /// How many of the last ones stay.
        pub keep: u32 as Kind::DEGREE = 3,
        /// Those of every so many updates stay besides; 0 is none.
        pub keep_every: u64 = 0,
    }
}

impl CheckpointOptions {
    /// Whether all is as it is by default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
