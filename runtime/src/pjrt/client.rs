//! A client: what PJRT does for devices, compilation and uploads.

use super::client_options::ClientOptions;
use super::event::Event;
use super::ffi::{self, Arguments};
use super::options;
use super::plugin::{Plugin, copy_text};
use crate::{CompileOptions, ProgramFormat, Status};
use halite_tensor::{DType, HostTensor};
use std::ffi::{c_char, c_int};

/// A PJRT client, destroyed when dropped. Buffers and executables keep it alive.
pub(super) struct Client {
    pub(super) plugin: Plugin,
    client: *mut ffi::Client,
    pub(super) devices: Vec<*mut ffi::Device>,
}

// SAFETY: PJRT clients may be used from several threads at once.
unsafe impl Send for Client {}
// SAFETY: as above.
unsafe impl Sync for Client {}

impl Drop for Client {
    fn drop(&mut self) {
        let mut args = ffi::ClientDestroy { client: self.client, ..ffi::ClientDestroy::new() };
        // SAFETY: the client is owned here and nothing of it is left. A failure leaves nothing to do.
        let _ = unsafe { self.plugin.call(&mut args) };
    }
}

impl Client {
    /// A client of a plugin, whose devices nobody has asked for yet.
    pub(super) fn create(plugin: Plugin, options: &ClientOptions) -> std::result::Result<Self, Status> {
        let values = options.named_values();
        let mut args = ffi::ClientCreate {
            create_options: values.as_ptr(),
            num_options: values.len(),
            ..ffi::ClientCreate::new()
        };
        // SAFETY: the values and what they point to outlive the call; the callbacks are optional and null.
        match unsafe { plugin.call(&mut args) } {
            Ok(()) => Ok(Self { plugin, client: args.client, devices: Vec::new() }),
            Err(status) if values.is_empty() => Err(status),
            Err(Status { code, message }) => {
                Err(Status::new(code, format!("{message}; the options given are {}", options.names())))
            }
        }
    }

    pub(super) fn list_devices(&self) -> std::result::Result<Vec<*mut ffi::Device>, Status> {
        let mut args = ffi::ClientAddressableDevices { client: self.client, ..ffi::ClientAddressableDevices::new() };
        // SAFETY: the client is alive; the list it returns is owned by it and copied at once.
        unsafe {
            self.plugin.call(&mut args)?;
            Ok(copy_pointers(args.devices, args.num_devices))
        }
    }

    /// The number of a device of this client.
    pub(super) fn device_index(&self, device: *mut ffi::Device) -> Option<usize> {
        self.devices.iter().position(|own| *own == device)
    }

    /// The number by which the plugin knows a device, which need not be its place among those of the client.
    pub(super) fn device_id(&self, device: *mut ffi::Device) -> std::result::Result<i64, Status> {
        let mut of = ffi::DeviceGetDescription { device, ..ffi::DeviceGetDescription::new() };
        // SAFETY: the device belongs to this client, which is alive and owns the description.
        unsafe { self.plugin.call(&mut of) }?;
        let mut args = ffi::DeviceDescriptionId { description: of.description, ..ffi::DeviceDescriptionId::new() };
        // SAFETY: as above.
        unsafe { self.plugin.call(&mut args) }?;
        Ok(i64::from(args.id))
    }

    /// Copies a buffer to a device and waits until it is there.
    ///
    /// # Safety
    /// The buffer belongs to this client, and so does the device.
    pub(super) unsafe fn copy(
        &self,
        buffer: *mut ffi::Buffer,
        device: *mut ffi::Device,
    ) -> std::result::Result<*mut ffi::Buffer, Status> {
        let mut args = ffi::BufferCopyToDevice { buffer, device, ..ffi::BufferCopyToDevice::new() };
        // SAFETY: the caller vouches for both.
        unsafe { self.plugin.call(&mut args) }?;
        let mut ready = ffi::BufferReadyEvent { buffer: args.copy, ..ffi::BufferReadyEvent::new() };
        // SAFETY: the copy is new and ours.
        let waited = unsafe { self.plugin.call(&mut ready) };
        // SAFETY: the event is a new one or null, and ours.
        waited.and_then(|()| unsafe { Event::new(self.plugin, ready.event) }.wait()).inspect_err(|_| {
            let mut lost = ffi::BufferDestroy { buffer: args.copy, ..ffi::BufferDestroy::new() };
            // SAFETY: the copy is ours, and nobody has it. A failure leaves nothing to do.
            let _ = unsafe { self.plugin.call(&mut lost) };
        })?;
        Ok(args.copy)
    }

    /// Compiles the text or bytes of a program in a format; `devices` are those of its replicas.
    pub(super) fn compile(
        &self,
        program: &[u8],
        format: ProgramFormat,
        (options, devices): (&CompileOptions, &[*mut ffi::Device]),
    ) -> std::result::Result<*mut ffi::LoadedExecutable, Status> {
        let ids = devices.iter().map(|&device| self.device_id(device)).collect::<std::result::Result<_, _>>()?;
        let (format, options) = (format.name(), options::encode(options, ids));
        let code = ffi::Program {
            head: ffi::Head::of::<ffi::Program>(),
            code: program.as_ptr().cast(),
            code_size: program.len(),
            format: format.as_ptr().cast(),
            format_size: format.len(),
        };
        let mut args = ffi::ClientCompile {
            client: self.client,
            program: &raw const code,
            compile_options: options.as_ptr().cast::<c_char>(),
            compile_options_size: options.len(),
            ..ffi::ClientCompile::new()
        };
        // SAFETY: program and options outlive the call, which reads them only.
        unsafe { self.plugin.call(&mut args) }?;
        Ok(args.executable)
    }

    /// Starts to copy the tensor: the new buffer, and the event after which the host bytes are no longer needed.
    ///
    /// # Safety
    /// The tensor stays alive until the event has been waited for.
    pub(super) unsafe fn upload(
        &self,
        tensor: &HostTensor,
        device: *mut ffi::Device,
    ) -> std::result::Result<(*mut ffi::Buffer, Event), Status> {
        let sizes: Vec<i64> = tensor.shape().iter().map(|size| *size as i64).collect();
        let mut args = ffi::ClientBufferFromHostBuffer {
            client: self.client,
            data: tensor.bytes().as_ptr().cast(),
            buffer_type: buffer_type(tensor.dtype()),
            dims: sizes.as_ptr(),
            num_dims: sizes.len(),
            host_buffer_semantics: ffi::IMMUTABLE_ONLY_DURING_CALL,
            device,
            ..ffi::ClientBufferFromHostBuffer::new()
        };
        // SAFETY: the tensor holds exactly the bytes of its dense row-major shape and, the caller vouches, outlives the
        // copy; the sizes outlive the call; the device belongs to this client.
        unsafe { self.plugin.call(&mut args) }?;
        // SAFETY: the event is a new one or null, and ours.
        let event = unsafe { Event::new(self.plugin, args.done_with_host_buffer) };
        Ok((args.buffer, event))
    }

    pub(super) fn platform(&self) -> String {
        let mut args = ffi::ClientPlatformName { client: self.client, ..ffi::ClientPlatformName::new() };
        // SAFETY: the client is alive and owns the text, which is copied at once; it is null if the call fails.
        unsafe {
            let _ = self.plugin.call(&mut args);
            copy_text(args.text, args.text_size)
        }
    }
}

/// The number of an element type in the PJRT C API; XLA's own numbers differ.
fn buffer_type(dtype: DType) -> c_int {
    match dtype {
        DType::Pred => 1,
        DType::S8 => 2,
        DType::S16 => 3,
        DType::S32 => 4,
        DType::S64 => 5,
        DType::U8 => 6,
        DType::U16 => 7,
        DType::U32 => 8,
        DType::U64 => 9,
        DType::F16 => 10,
        DType::F32 => 11,
        DType::F64 => 12,
        DType::Bf16 => 13,
    }
}

/// Copies a list of pointers that a plugin owns.
///
/// # Safety
/// `list` is null or points to `length` pointers.
pub(super) unsafe fn copy_pointers<T>(list: *const *mut T, length: usize) -> Vec<*mut T> {
    if list.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller vouches for pointer and length.
    unsafe { std::slice::from_raw_parts(list, length) }.to_vec()
}
