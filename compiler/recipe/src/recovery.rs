//! What a run does by itself where something goes wrong.

use crate::table;

table! {
    /// When a run goes back to a checkpoint of its own by itself, in place of ending.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct RecoveryOptions {
        /// How often it goes on from its newest checkpoint where the device fails, before there is a newer one.
        pub restarts: u32 = 0,
    }
}

impl RecoveryOptions {
    /// Whether all is as it is by default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
