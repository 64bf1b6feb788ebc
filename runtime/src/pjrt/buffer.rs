//! A buffer on a PJRT device.

use super::client::Client;
use super::event::Event;
use super::ffi::{self, Arguments};
use crate::{DeviceBuffer, Result, RuntimeError, Status, StatusCode, TensorSpec};
use halite_tensor::HostTensor;
use std::any::Any;
use std::sync::Arc;
use std::{fmt, ptr};

/// A PJRT buffer, destroyed when dropped.
pub(super) struct PjrtBuffer {
    client: Arc<Client>,
    buffer: *mut ffi::Buffer,
    spec: TensorSpec,
    device: usize,
}

// SAFETY: PJRT buffers may be used from several threads at once.
unsafe impl Send for PjrtBuffer {}
// SAFETY: as above.
unsafe impl Sync for PjrtBuffer {}

impl PjrtBuffer {
    /// Takes over a buffer.
    ///
    /// # Safety
    /// `buffer` belongs to `client`, is owned by nothing else, has the type `spec` and lives on `device`.
    pub(super) unsafe fn new(client: Arc<Client>, buffer: *mut ffi::Buffer, spec: TensorSpec, device: usize) -> Self {
        Self { client, buffer, spec, device }
    }

    /// The pointer of a buffer, for calls to the client that owns it; `None` for another client or kind of executor.
    pub(super) fn pointer_of(buffer: &dyn DeviceBuffer, client: &Arc<Client>) -> Option<*mut ffi::Buffer> {
        let buffer: &Self = (buffer as &dyn Any).downcast_ref()?;
        Arc::ptr_eq(&buffer.client, client).then_some(buffer.buffer)
    }

    /// Copies to `target`, or tells how many bytes that takes when there is none.
    fn copy(&self, target: Option<&mut [u8]>) -> std::result::Result<usize, Status> {
        let minor_to_major: Vec<i64> = (0..self.spec.shape.rank() as i64).rev().collect();
        let mut layout = ffi::MemoryLayout::untiled(&minor_to_major);
        let (dst, dst_size) = target.map_or((ptr::null_mut(), 0), |bytes| (bytes.as_mut_ptr().cast(), bytes.len()));
        let mut args = ffi::BufferToHostBuffer {
            src: self.buffer,
            host_layout: &raw mut layout,
            dst,
            dst_size,
            ..ffi::BufferToHostBuffer::new()
        };
        // SAFETY: the buffer is alive; the layout names each dimension once; `dst` is null or has `dst_size` bytes, and
        // is borrowed until the event below says that the copy has ended.
        unsafe { self.client.plugin.call(&mut args) }?;
        // SAFETY: the event is a new one or null, and ours.
        unsafe { Event::new(self.client.plugin, args.event) }.wait()?;
        Ok(args.dst_size)
    }
}

impl Drop for PjrtBuffer {
    fn drop(&mut self) {
        let mut args = ffi::BufferDestroy { buffer: self.buffer, ..ffi::BufferDestroy::new() };
        // SAFETY: the buffer is owned here. A failure leaves nothing to do.
        let _ = unsafe { self.client.plugin.call(&mut args) };
    }
}

impl DeviceBuffer for PjrtBuffer {
    fn spec(&self) -> &TensorSpec {
        &self.spec
    }

    fn device(&self) -> usize {
        self.device
    }

    fn download(&self) -> Result<HostTensor> {
        let mut bytes = vec![0; self.spec.size()];
        let needed = self.copy(None).map_err(RuntimeError::Transfer)?;
        if needed != bytes.len() {
            let text = format!("the device holds {needed} bytes for `{}`", self.spec);
            return Err(RuntimeError::Transfer(Status::new(StatusCode::Internal, text)));
        }
        if !bytes.is_empty() {
            self.copy(Some(&mut bytes)).map_err(RuntimeError::Transfer)?;
        }
        let tensor = HostTensor::from_bytes(self.spec.dtype, self.spec.shape.clone(), bytes);
        Ok(tensor.expect("the bytes have the size of the type"))
    }
}

impl fmt::Debug for PjrtBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on device {}", self.spec, self.device)
    }
}
