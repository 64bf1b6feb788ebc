//! A compiled program and its runs.

use super::buffer::PjrtBuffer;
use super::client::{Client, copy_pointers};
use super::event::Event;
use super::ffi::{self, Arguments};
use crate::{
    Buffer, Executable, Input, MemoryStats, Result, RuntimeError, Signature, Status, StatusCode, check_inputs,
};
use std::collections::BTreeSet;
use std::ptr;
use std::sync::Arc;

/// A compiled program, destroyed when dropped.
pub(super) struct PjrtExecutable {
    client: Arc<Client>,
    loaded: *mut ffi::LoadedExecutable,
    signature: Signature,
    devices: Vec<usize>,
}

// SAFETY: PJRT executables may be used from several threads at once.
unsafe impl Send for PjrtExecutable {}
// SAFETY: as above.
unsafe impl Sync for PjrtExecutable {}

impl PjrtExecutable {
    /// Takes over an executable.
    ///
    /// # Safety
    /// `loaded` belongs to `client`, is owned by nothing else, and was compiled from a program with this signature.
    ///
    /// # Errors
    /// When the compiler sees another number of outputs than the signature.
    pub(super) unsafe fn new(
        client: Arc<Client>,
        loaded: *mut ffi::LoadedExecutable,
        signature: Signature,
    ) -> Result<Self> {
        let mut executable = Self { client, loaded, signature, devices: Vec::new() };
        executable.devices = executable.list_devices().map_err(RuntimeError::Compile)?;
        let outputs = executable.num_outputs().map_err(RuntimeError::Compile)?;
        if outputs != executable.signature.outputs.len() {
            let stated = executable.signature.outputs.len();
            let reason = format!("the program shape states {stated} outputs, the entry has {outputs}");
            return Err(RuntimeError::InvalidProgram(reason));
        }
        Ok(executable)
    }

    fn list_devices(&self) -> std::result::Result<Vec<usize>, Status> {
        let mut args = ffi::LoadedExecutableAddressableDevices {
            executable: self.loaded,
            ..ffi::LoadedExecutableAddressableDevices::new()
        };
        // SAFETY: the executable is alive; the list it returns is owned by it and copied at once.
        let devices = unsafe {
            self.client.plugin.call(&mut args)?;
            copy_pointers(args.devices, args.num_devices)
        };
        let unknown = || Status::new(StatusCode::Internal, "the program was compiled for an unknown device");
        devices.into_iter().map(|device| self.client.device_index(device).ok_or_else(unknown)).collect()
    }

    /// Calls `query` with the part of the executable that is independent of devices.
    fn with_executable<T>(
        &self,
        query: impl FnOnce(*mut ffi::Executable) -> std::result::Result<T, Status>,
    ) -> std::result::Result<T, Status> {
        let mut get = ffi::LoadedExecutableGetExecutable {
            loaded_executable: self.loaded,
            ..ffi::LoadedExecutableGetExecutable::new()
        };
        // SAFETY: the loaded executable is alive.
        unsafe { self.client.plugin.call(&mut get) }?;
        let result = query(get.executable);
        let mut destroy = ffi::ExecutableDestroy { executable: get.executable, ..ffi::ExecutableDestroy::new() };
        // SAFETY: the executable is ours, and `query` could not keep it: its result holds no pointer into it.
        unsafe { self.client.plugin.call(&mut destroy) }?;
        result
    }

    fn num_outputs(&self) -> std::result::Result<usize, Status> {
        self.with_executable(|executable| {
            let mut args = ffi::ExecutableNumOutputs { executable, ..ffi::ExecutableNumOutputs::new() };
            // SAFETY: the executable is alive during the query.
            unsafe { self.client.plugin.call(&mut args) }?;
            Ok(args.num_outputs)
        })
    }

    /// The pointers of each replica's inputs.
    fn pointers(&self, inputs: &[Vec<Input<'_>>]) -> Result<Vec<Vec<*mut ffi::Buffer>>> {
        let pointer = |input: &Input<'_>| {
            let pointer = PjrtBuffer::pointer_of(input.buffer(), &self.client);
            pointer.ok_or_else(|| RuntimeError::InvalidInput("an input belongs to another executor".into()))
        };
        inputs.iter().map(|replica| replica.iter().map(pointer).collect()).collect()
    }

    /// Starts all replicas and waits for them.
    ///
    /// # Safety
    /// The arguments are live buffers of this client that fit the signature and devices, and none that may be donated
    /// is listed twice.
    unsafe fn run(&self, arguments: &[Vec<*mut ffi::Buffer>], kept: &[i64]) -> Result<Vec<Vec<Buffer>>> {
        let num_outputs = self.signature.outputs.len();
        let mut options = ffi::ExecuteOptions::keeping(kept);
        let argument_lists: Vec<_> = arguments.iter().map(|list| list.as_ptr()).collect();
        let mut outputs = vec![vec![ptr::null_mut(); num_outputs]; self.devices.len()];
        let output_lists: Vec<_> = outputs.iter_mut().map(|list| list.as_mut_ptr()).collect();
        let mut events = vec![ptr::null_mut(); self.devices.len()];
        let mut args = ffi::LoadedExecutableExecute {
            executable: self.loaded,
            options: &raw mut options,
            argument_lists: argument_lists.as_ptr(),
            num_devices: self.devices.len(),
            num_args: self.signature.inputs.len(),
            output_lists: output_lists.as_ptr(),
            device_complete_events: events.as_mut_ptr(),
            ..ffi::LoadedExecutableExecute::new()
        };
        // SAFETY: the caller vouches for the arguments. Each list has one entry per device, each output list one per
        // output (`new` has compared their number with the compiler's), and all outlive the call.
        unsafe { self.client.plugin.call(&mut args) }.map_err(RuntimeError::Execute)?;
        let outputs = outputs.into_iter().zip(&self.devices).map(|(list, device)| self.own(list, *device)).collect();
        // SAFETY: the events are new ones or null, and ours.
        let events: Vec<_> = events.into_iter().map(|event| unsafe { Event::new(self.client.plugin, event) }).collect();
        let ends: Vec<_> = events.into_iter().map(Event::wait).collect();
        ends.into_iter().collect::<std::result::Result<(), _>>().map_err(RuntimeError::Execute)?;
        Ok(outputs)
    }

    fn own(&self, outputs: Vec<*mut ffi::Buffer>, device: usize) -> Vec<Buffer> {
        let outputs = outputs.into_iter().zip(&self.signature.outputs);
        let own = |(pointer, spec): (_, &crate::TensorSpec)| -> Buffer {
            // SAFETY: the call that made the output hands it over; it has the type of the program's result.
            Box::new(unsafe { PjrtBuffer::new(Arc::clone(&self.client), pointer, spec.clone(), device) })
        };
        outputs.map(own).collect()
    }
}

impl Drop for PjrtExecutable {
    fn drop(&mut self) {
        let mut args = ffi::LoadedExecutableDestroy { executable: self.loaded, ..ffi::LoadedExecutableDestroy::new() };
        // SAFETY: the executable is owned here. A failure leaves nothing to do.
        let _ = unsafe { self.client.plugin.call(&mut args) };
    }
}

impl Executable for PjrtExecutable {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn devices(&self) -> &[usize] {
        &self.devices
    }

    fn memory_stats(&self) -> Result<MemoryStats> {
        let stats = self.with_executable(|executable| {
            let mut args = ffi::ExecutableMemoryStats { executable, ..ffi::ExecutableMemoryStats::new() };
            // SAFETY: the executable is alive during the query.
            unsafe { self.client.plugin.call(&mut args) }?;
            Ok(args)
        });
        let stats = stats.map_err(RuntimeError::Execute)?;
        let bytes = |count: i64| u64::try_from(count).unwrap_or(0);
        Ok(MemoryStats {
            argument: bytes(stats.argument),
            output: bytes(stats.output),
            alias: bytes(stats.alias),
            temp: bytes(stats.temp),
            generated_code: bytes(stats.generated_code),
            peak: bytes(stats.peak),
        })
    }

    fn execute_replicas(&self, inputs: Vec<Vec<Input<'_>>>) -> Result<Vec<Vec<Buffer>>> {
        check_inputs(self, &inputs)?;
        let arguments = self.pointers(&inputs)?;
        let kept = kept_inputs(&inputs);
        // SAFETY: the inputs were checked and live until the end of this function. A donated one is owned by `inputs`,
        // so it is listed once; all others are in `kept`.
        unsafe { self.run(&arguments, &kept) }
    }
}

/// Positions that some replica keeps. PJRT takes one list for all replicas.
fn kept_inputs(inputs: &[Vec<Input<'_>>]) -> Vec<i64> {
    let kept = |replica: &Vec<Input<'_>>| -> Vec<i64> {
        (0..).zip(replica).filter(|(_, input)| !input.is_donated()).map(|(index, _)| index).collect()
    };
    let kept: BTreeSet<i64> = inputs.iter().flat_map(kept).collect();
    kept.into_iter().collect()
}
