//! A buffer of the crate.

use super::client::Client;
use super::{convert, status};
use halite_runtime::{Buffer, DeviceBuffer, Result, RuntimeError, TensorSpec};
use halite_tensor::HostTensor;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A [`Buffer`](halite_runtime::Buffer) that holds an [`xla::PjRtBuffer`].
pub struct XlaBuffer {
    client: Arc<Client>,
    buffer: xla::PjRtBuffer,
    spec: TensorSpec,
    device: usize,
}

impl XlaBuffer {
    pub(super) fn new(client: Arc<Client>, buffer: xla::PjRtBuffer, spec: TensorSpec, device: usize) -> Self {
        Self { client, buffer, spec, device }
    }

    /// A buffer as one of the crate, if it is.
    pub fn of(buffer: &dyn DeviceBuffer) -> Option<&Self> {
        (buffer as &dyn Any).downcast_ref()
    }

    /// As [`of`](Self::of), for a buffer that is owned.
    ///
    /// # Errors
    /// The buffer itself, when another executor made it.
    pub fn take(buffer: Buffer) -> std::result::Result<Self, Buffer> {
        if Self::of(buffer.as_ref()).is_none() {
            return Err(buffer);
        }
        let any: Box<dyn Any> = buffer;
        Ok(*any.downcast().expect("its type was just looked at"))
    }

    /// The crate's buffer; nothing is copied.
    pub fn as_xla(&self) -> &xla::PjRtBuffer {
        &self.buffer
    }

    /// The crate's buffer; nothing is copied.
    pub fn into_xla(self) -> xla::PjRtBuffer {
        self.buffer
    }

    pub(super) fn belongs_to(&self, client: &Arc<Client>) -> bool {
        Arc::ptr_eq(&self.client, client)
    }
}

impl DeviceBuffer for XlaBuffer {
    fn spec(&self) -> &TensorSpec {
        &self.spec
    }

    fn device(&self) -> usize {
        self.device
    }

    fn download(&self) -> Result<HostTensor> {
        let literal = self.buffer.to_literal_sync().map_err(|error| RuntimeError::Transfer(status(error)))?;
        convert::from_literal(&literal)
    }
}

impl fmt::Debug for XlaBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on device {}", self.spec, self.device)
    }
}
