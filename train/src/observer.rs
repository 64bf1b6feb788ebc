//! Who hears how a run goes.

use super::{EvalRecord, StepRecord};
use halite_support::Diagnostic;
use std::path::Path;

/// Hears how a run goes. Every method has a default that does nothing.
pub trait Observer {
    /// The run goes on from a state after so many updates.
    fn resumed(&mut self, _state: &Path, _step: u64) {}

    /// The modules are compiled and the state is on the devices; the run starts after this update.
    fn started(&mut self, _step: u64) {}

    /// An update was made.
    fn stepped(&mut self, _record: &StepRecord) {}

    /// The held-out text was evaluated.
    fn evaluated(&mut self, _record: &EvalRecord) {}

    /// Something deserves a look, such as a state that comes from another run.
    fn warned(&mut self, _warning: &Diagnostic) {}
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}
