//! The executor: a client with its devices.

use super::buffer::PjrtBuffer;
use super::client::Client;
use super::client_options::ClientOptions;
use super::executable::PjrtExecutable;
use super::plugin::Plugin;
use crate::{
    Buffer, DeviceBuffer, Executable, Executor, Program, Result, RuntimeError, Status, StatusCode, TensorSpec,
};
use halite_tensor::HostTensor;
use std::path::Path;
use std::sync::Arc;

/// An executor on the devices of a PJRT plugin. Clones share the devices.
#[derive(Clone)]
pub struct Pjrt(Arc<Client>);

impl Pjrt {
    /// Opens the plugin at `path` and makes a client of it. Plugins of all platforms are opened the same way; `options` is
    /// what differs. What a plugin logs, and whether, is up to it and its environment:
    /// [`silence_xla_log`](crate::silence_xla_log) is how a program keeps XLA's lines off its standard error.
    ///
    /// # Errors
    /// When the file is no usable plugin, an option has no name, is given twice or is a number of CPU devices that cannot be
    /// one, the plugin refuses the options, or the devices cannot be had.
    pub fn open(path: &Path, options: &ClientOptions) -> Result<Self> {
        let needed = options.check()?.max(1);
        let mut client = Client::create(Plugin::open(path)?, options).map_err(RuntimeError::Client)?;
        client.devices = client.list_devices().map_err(RuntimeError::Client)?;
        let found = client.devices.len();
        if found < needed {
            let text = match found {
                0 => "the plugin has no device".to_owned(),
                _ => format!("{needed} devices are needed, the plugin has {found}"),
            };
            return Err(RuntimeError::Client(Status::new(StatusCode::Unavailable, text)));
        }
        Ok(Self(Arc::new(client)))
    }
}

impl Executor for Pjrt {
    fn platform(&self) -> String {
        self.0.platform()
    }

    fn num_devices(&self) -> usize {
        self.0.devices.len()
    }

    fn owns(&self, buffer: &dyn DeviceBuffer) -> bool {
        PjrtBuffer::pointer_of(buffer, &self.0).is_some()
    }

    fn compile(&self, program: &Program<'_>) -> Result<Box<dyn Executable>> {
        let (needed, found) = (program.options().num_replicas, self.num_devices());
        if needed > found {
            let reason = format!("{needed} replicas need as many devices, there are {found}");
            return Err(RuntimeError::InvalidProgram(reason));
        }
        let loaded = self.0.compile(program).map_err(RuntimeError::Compile)?;
        // SAFETY: the executable is new, of this client, and ours.
        let executable = unsafe { PjrtExecutable::new(Arc::clone(&self.0), loaded, program.signature().clone()) }?;
        Ok(Box::new(executable))
    }

    fn upload(&self, tensor: &HostTensor, device: usize) -> Result<Buffer> {
        let Some(pointer) = self.0.devices.get(device) else {
            let reason = format!("there is no device {device}, the devices are 0 to {}", self.num_devices() - 1);
            return Err(RuntimeError::InvalidInput(reason));
        };
        // SAFETY: the event is waited for below, while the tensor is borrowed.
        let (buffer, event) = unsafe { self.0.upload(tensor, *pointer) }.map_err(RuntimeError::Transfer)?;
        // SAFETY: the buffer is new, of this client, ours, and was made with this type.
        let buffer = unsafe { PjrtBuffer::new(Arc::clone(&self.0), buffer, TensorSpec::of(tensor), device) };
        event.wait().map_err(RuntimeError::Transfer)?;
        Ok(Box::new(buffer))
    }
}
