//! The way of values between stages.

use halite_bundle::Transfer;
use halite_runtime::{Buffer, Executor};
use halite_support::Result;

/// A transfer of one piece of the batch, or of what an update has once.
#[derive(Clone, Copy)]
pub(super) struct Carried<'a> {
    pub(super) transfer: &'a Transfer,
    pub(super) piece: Option<usize>,
}

/// The way of values between stages, from one end. Whatever ends a stage ends the wait of all others for it, with an error that names
/// the stage.
pub(super) trait Transport: Send {
    /// Sends the values of a transfer to the stage that it goes to: for each value the part of each rank that runs here. It does not
    /// wait until they are received.
    fn send(&mut self, executor: &dyn Executor, what: Carried<'_>, values: &[&[Buffer]]) -> Result<()>;

    /// Waits for the values of a transfer: in the same form, on the devices of this stage.
    fn receive(&mut self, executor: &dyn Executor, what: Carried<'_>) -> Result<Vec<Vec<Buffer>>>;
}
