//! Metrics of a run: the files that show them, and alarms.

use crate::schema::Kind;
use crate::table;

/// The name of the weights in no group of the optimizer, beside the names of groups.
pub const REST: &str = "rest";

table! {
    /// The files that are written of a run beside its metrics, and the limits that raise an alarm. No number of a run depends on them.
    /// A limit of 0 turns its alarm off.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct MetricsOptions {
        /// Whether TensorBoard's event files are written.
        pub tensorboard: bool = false,
        /// Whether a page with the curves of the run is written.
        pub report: bool = true,
        /// Updates between points of TensorBoard's curves.
        pub every: u32 as Kind::DEGREE = 1,
        /// Whether the norm of the gradient of each group of the optimizer is measured too, as `grad_norm.NAME`, and that of the weights
        /// in none as `grad_norm.rest`.
        pub group_norms: bool = false,
        /// An alarm where the norm of the gradient, as a median over 100 updates, is more than this times what it was in the 100 before.
        pub grad_norm_rise: f64 as Kind::NOT_NEGATIVE = 2.0,
        /// An alarm where the training loss, as a median over 20 updates, is below this many nats, such as the entropy of the text.
        pub loss_floor: f64 as Kind::NOT_NEGATIVE = 0.0,
        /// An alarm where the training loss comes to be below the held-out loss by this many nats more than at the evaluation before.
        pub loss_gap: f64 as Kind::NOT_NEGATIVE = 0.5,
        /// An alarm where more than this share of the time of 100 updates goes by waiting for data.
        pub data_stall: f64 as Kind::SHARE = 0.1,
    }
}

impl MetricsOptions {
    /// Whether all is as it is by default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
