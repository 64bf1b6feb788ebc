//! The executor: devices, compilation and uploads.

use super::buffer::XlaBuffer;
use super::client::Client;
use super::{XlaExecutable, computation, convert, status};
use halite_runtime::{
    Buffer, CompileOptions, DeviceBuffer, Executable, Executor, Program, Result, RuntimeError, Status, TensorSpec,
};
use halite_tensor::HostTensor;
use std::fmt;
use std::sync::Arc;

/// Flags that the variable `XLA_FLAGS` must hold for exact rounding, before XLA is first used in the process.
///
/// The first keeps narrow floats from being held in a wider type, the second keeps NaN in minimum and maximum.
pub const EXACT_FLAGS: [&str; 2] = ["--xla_allow_excess_precision=false", "--xla_cpu_enable_fast_min_max=false"];

/// An executor on the devices of an [`xla::PjRtClient`]. Clones share the devices.
#[derive(Clone)]
pub struct XlaRs(Arc<Client>);

impl XlaRs {
    /// The CPU client that the crate brings.
    ///
    /// # Errors
    /// When XLA cannot start it.
    pub fn cpu() -> Result<Self> {
        let client = xla::PjRtClient::cpu().map_err(|error| RuntimeError::Client(status(error)))?;
        Ok(Self::new(client))
    }

    /// A client that is there already; its devices are shared with whoever else holds it.
    pub fn new(client: xla::PjRtClient) -> Self {
        let flags = std::env::var("XLA_FLAGS").unwrap_or_default();
        let exact = EXACT_FLAGS.iter().all(|needed| flags.split_whitespace().any(|flag| flag == *needed));
        Self(Arc::new(Client { client, exact }))
    }

    /// The crate's client.
    pub fn client(&self) -> &xla::PjRtClient {
        &self.0.client
    }

    /// Compiles a program; as [`Executor::compile`], with the type that knows the crate.
    ///
    /// # Errors
    /// [`RuntimeError::Unsupported`] when the options ask for what the crate cannot do (see [the module](super));
    /// [`RuntimeError::InvalidProgram`] when there are fewer devices than replicas; [`RuntimeError::Compile`] when XLA
    /// refuses the program.
    pub fn load(&self, program: &Program<'_>) -> Result<XlaExecutable> {
        self.check_options(program.options())?;
        let computation = computation(program)?;
        let loaded = self.0.client.compile_replicated(&computation, program.options().num_replicas);
        let loaded = loaded.map_err(|error| RuntimeError::Compile(status(error)))?;
        XlaExecutable::new(Arc::clone(&self.0), loaded, program)
    }

    /// Takes over a buffer of this client that lives on this device; nothing is copied.
    ///
    /// # Errors
    /// [`RuntimeError::InvalidInput`] when there is no such device, the buffer is no array of a known element type, or it is
    /// of another platform. A buffer of another client of the same platform, or on another device, is refused by the call
    /// that gets it.
    pub fn adopt(&self, buffer: xla::PjRtBuffer, device: usize) -> Result<XlaBuffer> {
        self.check_device(device)?;
        let invalid = |status: Status| RuntimeError::InvalidInput(status.message);
        let platform = |client: &xla::PjRtClient| (client.platform_name(), client.platform_version());
        let (own, found) = (platform(&self.0.client), platform(buffer.client()));
        if own != found {
            return Err(RuntimeError::InvalidInput(format!("a buffer of `{}` is given to `{}`", found.0, own.0)));
        }
        let shape = buffer.on_device_shape().map_err(|error| invalid(status(error)))?;
        let spec = convert::spec(&shape).map_err(invalid)?;
        Ok(XlaBuffer::new(Arc::clone(&self.0), buffer, spec, device))
    }

    fn check_options(&self, options: &CompileOptions) -> Result<()> {
        if let Some(level) = options.optimization_level {
            let reason = format!("the crate `xla` cannot choose optimization level {level}, leave XLA its own");
            return Err(RuntimeError::Unsupported(reason));
        }
        if !options.excess_precision && !self.0.exact {
            let flags = EXACT_FLAGS.join(" ");
            let reason =
                format!("XLA does not round exactly here, start the process with `XLA_FLAGS` holding `{flags}`");
            return Err(RuntimeError::Unsupported(reason));
        }
        if options.devices().iter().enumerate().any(|(replica, &device)| replica != device) {
            let reason = format!("the crate `xla` cannot choose devices, these are stated: {:?}", options.devices);
            return Err(RuntimeError::Unsupported(reason));
        }
        let (needed, found) = (options.num_replicas, self.num_devices());
        if needed > found {
            let reason = format!("{needed} replicas need as many devices, there are {found}");
            return Err(RuntimeError::InvalidProgram(reason));
        }
        Ok(())
    }

    fn check_device(&self, device: usize) -> Result<()> {
        let count = self.num_devices();
        if device < count {
            return Ok(());
        }
        Err(RuntimeError::InvalidInput(format!("there is no device {device}, the client has {count}")))
    }
}

impl Executor for XlaRs {
    fn platform(&self) -> String {
        self.0.client.platform_name()
    }

    fn num_devices(&self) -> usize {
        self.0.client.addressable_device_count()
    }

    fn owns(&self, buffer: &dyn DeviceBuffer) -> bool {
        XlaBuffer::of(buffer).is_some_and(|buffer| buffer.belongs_to(&self.0))
    }

    fn compile(&self, program: &Program<'_>) -> Result<Box<dyn Executable>> {
        Ok(Box::new(self.load(program)?))
    }

    fn upload(&self, tensor: &HostTensor, device: usize) -> Result<Buffer> {
        self.check_device(device)?;
        let devices = self.0.client.addressable_devices();
        let element_type = convert::element_type(tensor.dtype());
        let buffer =
            self.0.client.buffer_from_host_raw_bytes(element_type, tensor.bytes(), tensor.shape(), devices.get(device));
        let buffer = buffer.map_err(|error| RuntimeError::Transfer(status(error)))?;
        Ok(Box::new(XlaBuffer::new(Arc::clone(&self.0), buffer, TensorSpec::of(tensor), device)))
    }
}

impl fmt::Debug for XlaRs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "XlaRs({}, {} devices)", self.platform(), self.num_devices())
    }
}
