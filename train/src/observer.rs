//! Observers of a run.

use super::{EvalRecord, StepRecord, TimeRecord};
use halite_support::{Diagnostic, Result};
use std::path::Path;

/// An observer of a run. Every method has a default that does nothing. The observers in a list are called one after another.
pub trait Observer {
    /// The run goes on from a state after so many updates.
    fn resumed(&mut self, _state: &Path, _step: u64) {}

    /// The modules are compiled and the state is on the devices; the run starts after this update.
    fn started(&mut self, _step: u64) {}

    /// An update was made.
    fn stepped(&mut self, _record: &StepRecord) {}

    /// With the last update, all training data were given so many times.
    fn read_all(&mut self, _epochs: u64) {}

    /// The held-out text was evaluated.
    fn evaluated(&mut self, _record: &EvalRecord) {}

    /// An update ended, which [`stepped`](Self::stepped) has reported; these are its times.
    fn timed(&mut self, _record: &TimeRecord) {}

    /// A checkpoint was saved, of the state after so many updates.
    fn saved(&mut self, _checkpoint: &Path, _step: u64) {}

    /// Something deserves a look, such as a state that comes from another run.
    fn warned(&mut self, _warning: &Diagnostic) {}

    /// Records are being written: after an evaluation, with a state, and at the end. An observer that keeps files writes them now.
    ///
    /// # Errors
    /// When a file cannot be written, which ends the run.
    fn written(&mut self) -> Result<()> {
        Ok(())
    }
}

impl<O: Observer + ?Sized> Observer for &mut O {
    fn resumed(&mut self, state: &Path, step: u64) {
        (**self).resumed(state, step);
    }

    fn started(&mut self, step: u64) {
        (**self).started(step);
    }

    fn stepped(&mut self, record: &StepRecord) {
        (**self).stepped(record);
    }

    fn read_all(&mut self, epochs: u64) {
        (**self).read_all(epochs);
    }

    fn evaluated(&mut self, record: &EvalRecord) {
        (**self).evaluated(record);
    }

    fn timed(&mut self, record: &TimeRecord) {
        (**self).timed(record);
    }

    fn saved(&mut self, checkpoint: &Path, step: u64) {
        (**self).saved(checkpoint, step);
    }

    fn warned(&mut self, warning: &Diagnostic) {
        (**self).warned(warning);
    }

    fn written(&mut self) -> Result<()> {
        (**self).written()
    }
}

impl Observer for Vec<Box<dyn Observer + '_>> {
    fn resumed(&mut self, state: &Path, step: u64) {
        self.iter_mut().for_each(|observer| observer.resumed(state, step));
    }

    fn started(&mut self, step: u64) {
        self.iter_mut().for_each(|observer| observer.started(step));
    }

    fn stepped(&mut self, record: &StepRecord) {
        self.iter_mut().for_each(|observer| observer.stepped(record));
    }

    fn read_all(&mut self, epochs: u64) {
        self.iter_mut().for_each(|observer| observer.read_all(epochs));
    }

    fn evaluated(&mut self, record: &EvalRecord) {
        self.iter_mut().for_each(|observer| observer.evaluated(record));
    }

    fn timed(&mut self, record: &TimeRecord) {
        self.iter_mut().for_each(|observer| observer.timed(record));
    }

    fn saved(&mut self, checkpoint: &Path, step: u64) {
        self.iter_mut().for_each(|observer| observer.saved(checkpoint, step));
    }

    fn warned(&mut self, warning: &Diagnostic) {
        self.iter_mut().for_each(|observer| observer.warned(warning));
    }

    fn written(&mut self) -> Result<()> {
        self.iter_mut().try_for_each(|observer| observer.written())
    }
}

/// An observer that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}
