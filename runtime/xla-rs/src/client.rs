//! A client of the crate.

use super::status;
use halite_runtime::{Result, RuntimeError, Status, StatusCode};

/// A client of the crate. Buffers and executables keep it alive.
pub(super) struct Client {
    pub(super) client: xla::PjRtClient,
    /// Whether XLA rounds exactly in this process.
    pub(super) exact: bool,
}

impl Client {
    /// The copy of a buffer on its device, in memory of its own.
    pub(super) fn copy(&self, buffer: &xla::PjRtBuffer, device: usize) -> Result<xla::PjRtBuffer> {
        let target = self.client.addressable_devices().into_iter().nth(device);
        let target = target.ok_or_else(|| {
            RuntimeError::Transfer(Status::new(StatusCode::NotFound, format!("there is no device {device}")))
        })?;
        buffer.copy_to_device(target).map_err(|error| RuntimeError::Transfer(status(error)))
    }
}
