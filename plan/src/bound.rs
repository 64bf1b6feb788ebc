//! Bounds that drop a layout before it is compiled.

use super::Layout;
use halite_estimate::time::Machine;

/// The figures of a model that bound all layouts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole {
    /// Bytes of all state on one rank, nothing in parts.
    pub(super) state: f64,
    /// Bytes of weights alone.
    pub(super) weights: f64,
    /// Floating-point operations of an update that the model asks for, over all ranks.
    pub(super) flops: f64,
    /// The peak rate of a rank for them.
    pub(super) peak: f64,
}

impl Whole {
    /// The least bytes of state that a rank holds.
    pub(super) fn state_of(&self, layout: &Layout) -> f64 {
        let shared = (layout.tensor * layout.pipeline) as f64;
        let others = self.state - self.weights;
        match layout.fsdp {
            1 => (self.weights + others / layout.data as f64) / shared,
            parts => self.state / shared / parts as f64,
        }
    }

    /// The least seconds of an update: all that is asked for at the rate that programs reach, and the pipeline filled and drained.
    pub(super) fn seconds(&self, layout: &Layout, ranks: u64, machine: &Machine) -> f64 {
        self.flops / (self.peak * machine.efficiency.products * ranks as f64) * layout.bubble()
    }
}
