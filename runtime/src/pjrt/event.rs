//! Events: the ends of asynchronous work.

use super::ffi::{self, Arguments};
use super::plugin::Plugin;
use crate::Status;

/// An event, destroyed when dropped.
pub(super) struct Event {
    plugin: Plugin,
    event: *mut ffi::Event,
}

impl Event {
    /// Takes over an event.
    ///
    /// # Safety
    /// `event` is null, which counts as done, or an event of this plugin that nothing else owns.
    pub(super) unsafe fn new(plugin: Plugin, event: *mut ffi::Event) -> Self {
        Self { plugin, event }
    }

    /// Blocks until the work is done and says how it ended.
    pub(super) fn wait(self) -> Result<(), Status> {
        if self.event.is_null() {
            return Ok(());
        }
        let mut args = ffi::EventAwait { event: self.event, ..ffi::EventAwait::new() };
        // SAFETY: the event is alive until `self` is dropped.
        unsafe { self.plugin.call(&mut args) }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.event.is_null() {
            return;
        }
        let mut args = ffi::EventDestroy { event: self.event, ..ffi::EventDestroy::new() };
        // SAFETY: the event is owned here. A failure leaves nothing to do.
        let _ = unsafe { self.plugin.call(&mut args) };
    }
}
