//! The executor: a client with its devices.

use super::buffer::PjrtBuffer;
use super::client::Client;
use super::client_options::ClientOptions;
use super::executable::PjrtExecutable;
use super::ffi;
use super::plugin::Plugin;
use crate::{
    Buffer, DeviceBuffer, Executable, Executor, Program, ProgramFormat, Result, RuntimeError, Status, StatusCode,
    TensorSpec,
};
use halite_tensor::HostTensor;
use std::path::Path;
use std::sync::Arc;

/// An executor on the devices of a PJRT plugin. Clones share the devices.
#[derive(Clone)]
pub struct Pjrt {
    client: Arc<Client>,
    format: ProgramFormat,
}

impl Pjrt {
    /// Opens the plugin at `path` and makes a client of it. Plugins of all platforms are opened the same way; only `options` differ.
    /// Logging is up to the plugin and its environment: [`silence_xla_log`](crate::silence_xla_log) is how a program keeps XLA's lines
    /// off its standard error.
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
        let format = ProgramFormat::of_platform(&client.platform());
        Ok(Self { client: Arc::new(client), format })
    }

    /// The same devices, with programs handed to the plugin in another format than that of its platform.
    #[must_use]
    pub fn with_format(self, format: ProgramFormat) -> Self {
        Self { format, ..self }
    }

    /// A device of the client.
    fn device(&self, device: usize) -> Result<*mut ffi::Device> {
        let found = self.client.devices.get(device).copied();
        found.ok_or_else(|| {
            let reason = format!("there is no device {device}, the devices are 0 to {}", self.num_devices() - 1);
            RuntimeError::InvalidInput(reason)
        })
    }

    /// The program as the plugin takes it.
    fn code<'p>(&self, program: &'p Program<'_>) -> Result<&'p [u8]> {
        match self.format {
            ProgramFormat::Hlo => Ok(program.hlo()),
            ProgramFormat::Mlir => program.stablehlo().map(str::as_bytes).ok_or_else(|| {
                let reason =
                    format!("the plugin of `{}` takes StableHLO, and the program is HLO alone", self.platform());
                RuntimeError::InvalidProgram(reason)
            }),
            ProgramFormat::Neff => {
                Err(RuntimeError::InvalidProgram("PJRT plugins take no NEFF: libnrt runs it".into()))
            }
        }
    }
}

impl Executor for Pjrt {
    fn platform(&self) -> String {
        self.client.platform()
    }

    fn num_devices(&self) -> usize {
        self.client.devices.len()
    }

    fn format(&self) -> ProgramFormat {
        self.format
    }

    fn owns(&self, buffer: &dyn DeviceBuffer) -> bool {
        PjrtBuffer::pointer_of(buffer, &self.client).is_some()
    }

    fn compile(&self, program: &Program<'_>) -> Result<Box<dyn Executable>> {
        let (needed, found) = (program.options().num_replicas, self.num_devices());
        if needed > found {
            let reason = format!("{needed} replicas need as many devices, there are {found}");
            return Err(RuntimeError::InvalidProgram(reason));
        }
        let code = self.code(program)?;
        let options = program.options();
        let devices = options.devices.iter().map(|&device| self.device(device)).collect::<Result<Vec<_>>>()?;
        let loaded = self.client.compile(code, self.format, (options, &devices)).map_err(RuntimeError::Compile)?;
        // SAFETY: the executable is new, of this client, and ours.
        let executable = unsafe { PjrtExecutable::new(Arc::clone(&self.client), loaded, program.signature().clone()) }?;
        if !options.devices.is_empty() && *executable.devices() != options.devices {
            let (stated, found) = (&options.devices, executable.devices());
            return Err(RuntimeError::Unsupported(format!(
                "the plugin puts replicas on devices {found:?}, not on {stated:?}"
            )));
        }
        Ok(Box::new(executable))
    }

    fn upload(&self, tensor: &HostTensor, device: usize) -> Result<Buffer> {
        let pointer = self.device(device)?;
        // SAFETY: the event is waited for below, while the tensor is borrowed.
        let (buffer, event) = unsafe { self.client.upload(tensor, pointer) }.map_err(RuntimeError::Transfer)?;
        // SAFETY: the buffer is new, of this client, ours, and was made with this type.
        let buffer = unsafe { PjrtBuffer::new(Arc::clone(&self.client), buffer, TensorSpec::of(tensor), device) };
        event.wait().map_err(RuntimeError::Transfer)?;
        Ok(Box::new(buffer))
    }

    fn copy(&self, buffer: &dyn DeviceBuffer, device: usize) -> Result<Buffer> {
        let pointer = self.device(device)?;
        let own = PjrtBuffer::pointer_of(buffer, &self.client);
        let own = own.ok_or_else(|| RuntimeError::InvalidInput("the buffer belongs to another executor".into()))?;
        // PJRT copies to other devices alone.
        if buffer.device() == device {
            return self.upload(&buffer.download()?, device);
        }
        // SAFETY: both belong to this client.
        let copy = unsafe { self.client.copy(own, pointer) }.map_err(RuntimeError::Transfer)?;
        // SAFETY: the copy is new, of this client, ours, and has the type of what it was made of.
        Ok(Box::new(unsafe { PjrtBuffer::new(Arc::clone(&self.client), copy, buffer.spec().clone(), device) }))
    }
}
