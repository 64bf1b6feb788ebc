//! An array in the memory of a core.

use super::error::NrtError;
use super::ffi::{self, Tensor};
use super::session::Session;
use super::status::NrtCall;
use crate::{DeviceBuffer, Result, RuntimeError, Status, StatusCode, TensorSpec};
use halite_tensor::HostTensor;
use std::any::Any;
use std::ffi::c_int;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, ptr};

/// The address of a tensor on its way to the worker.
#[derive(Clone, Copy)]
pub(super) struct Address(*mut Tensor);

impl Address {
    pub(super) fn pointer(self) -> *mut Tensor {
        self.0
    }
}

// SAFETY: the address is used by the worker's thread alone.
unsafe impl Send for Address {}
// SAFETY: as above.
unsafe impl Sync for Address {}

/// A tensor, freed when dropped.
pub(super) struct NrtTensor {
    session: Arc<Session>,
    address: Address,
    spec: TensorSpec,
    timeout: Duration,
}

impl NrtTensor {
    /// Memory for an array on a core.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn allocate(session: &Arc<Session>, spec: &TensorSpec, core: c_int, timeout: Duration) -> Result<Self> {
        let size = spec.size();
        let allocated = session.worker.call(NrtCall::Allocate, timeout, move |functions| {
            let mut tensor = ptr::null_mut();
            // SAFETY: the pointer is to a pointer that lives through the call; a name is optional.
            let status =
                unsafe { (functions.nrt_tensor_allocate)(ffi::ON_DEVICE, core, size, c"".as_ptr(), &raw mut tensor) };
            (status, Address(tensor))
        });
        let (status, address) = allocated?;
        NrtError::check(NrtCall::Allocate, status)?;
        Ok(Self { session: Arc::clone(session), address, spec: spec.clone(), timeout })
    }

    /// Copies an array to it, which has its type.
    ///
    /// # Errors
    /// When the copy fails.
    pub(super) fn write(&self, tensor: &HostTensor) -> Result<()> {
        let (address, bytes) = (self.address, tensor.bytes().to_vec());
        let status = self.session.worker.call(NrtCall::Write, self.timeout, move |functions| {
            // SAFETY: the tensor is alive, since its freeing is done by a later call, and as large as the bytes, which live through the
            // call.
            unsafe { (functions.nrt_tensor_write)(address.pointer(), bytes.as_ptr().cast(), 0, bytes.len()) }
        });
        Ok(NrtError::check(NrtCall::Write, status?)?)
    }

    /// The buffer as one of this kind and of this session; `None` for another executor's.
    pub(super) fn of<'b>(buffer: &'b dyn DeviceBuffer, session: &Arc<Session>) -> Option<&'b Self> {
        let tensor: &Self = (buffer as &dyn Any).downcast_ref()?;
        Arc::ptr_eq(&tensor.session, session).then_some(tensor)
    }

    pub(super) fn address(&self) -> Address {
        self.address
    }
}

impl Drop for NrtTensor {
    fn drop(&mut self) {
        let address = self.address;
        self.session.worker.post(move |functions| {
            let mut tensor = address.pointer();
            // SAFETY: the tensor is owned here, and calls that use it were made before.
            unsafe { (functions.nrt_tensor_free)(&raw mut tensor) };
        });
    }
}

impl DeviceBuffer for NrtTensor {
    fn spec(&self) -> &TensorSpec {
        &self.spec
    }

    fn device(&self) -> usize {
        0
    }

    fn download(&self) -> Result<HostTensor> {
        let (address, size) = (self.address, self.spec.size());
        let read = self.session.worker.call(NrtCall::Read, self.timeout, move |functions| {
            let mut bytes = vec![0u8; size];
            // SAFETY: the tensor is alive, since its freeing is done by a later call, and as large as the bytes, which live through the
            // call.
            let status = unsafe { (functions.nrt_tensor_read)(address.pointer(), bytes.as_mut_ptr().cast(), 0, size) };
            (status, bytes)
        });
        let (status, bytes) = read?;
        NrtError::check(NrtCall::Read, status)?;
        let tensor = HostTensor::from_bytes(self.spec.dtype, self.spec.shape.clone(), bytes);
        tensor.map_err(|_| RuntimeError::Transfer(Status::new(StatusCode::Internal, "bytes of another size")))
    }
}

impl fmt::Debug for NrtTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on a core", self.spec)
    }
}
