//! The executor: one core of this process.

use super::model::{CORE, NrtModel};
use super::options::NrtOptions;
use super::session::Session;
use super::tensor::NrtTensor;
use super::version::NrtVersion;
use crate::{Buffer, DeviceBuffer, Executable, Executor, Program, ProgramFormat, Result, RuntimeError, TensorSpec};
use halite_tensor::HostTensor;
use std::path::Path;
use std::sync::Arc;

/// An executor on libnrt: the first logical core that this process has. It runs programs that `neuronx-cc` has finished
/// ([`Neff`](crate::Neff)), as many ranks as processes. Clones share the core.
#[derive(Clone)]
pub struct Nrt {
    session: Arc<Session>,
    options: NrtOptions,
}

impl Nrt {
    /// Opens the library at `path` and starts the runtime, or joins what this process has started already. Which cores the process has,
    /// and how the runtime behaves, is told by variables of its environment.
    ///
    /// # Errors
    /// When the library cannot be opened or is of another major version, the runtime does not start, or the process has no core.
    pub fn open(path: &Path, options: &NrtOptions) -> Result<Self> {
        let (rank, world) = options.rank;
        if rank >= world {
            return Err(RuntimeError::Unsupported(format!("there is no rank {rank} of {world}")));
        }
        if options.stages == 0 || !world.is_multiple_of(options.stages) {
            let reason = format!("{world} ranks cannot be those of {} stages", options.stages);
            return Err(RuntimeError::Unsupported(reason));
        }
        let session = Session::open(path, options)?;
        if session.cores(options)? == 0 {
            let reason = "this process has no core: `NEURON_RT_VISIBLE_CORES` names those of a process";
            return Err(RuntimeError::Unsupported(reason.into()));
        }
        Ok(Self { session: Arc::new(session), options: options.clone() })
    }

    /// The logical cores of this process, of which the executor uses one.
    ///
    /// # Errors
    /// When the library does not say.
    pub fn cores(&self) -> Result<u32> {
        self.session.cores(&self.options)
    }

    /// The version that the library states.
    pub fn version(&self) -> &NrtVersion {
        &self.session.version
    }
}

impl Executor for Nrt {
    fn platform(&self) -> String {
        "neuron".to_owned()
    }

    fn num_devices(&self) -> usize {
        1
    }

    fn rank(&self) -> Option<(usize, usize)> {
        let (rank, world) = self.options.rank;
        Some((rank as usize, world as usize))
    }

    fn format(&self) -> ProgramFormat {
        ProgramFormat::Neff
    }

    fn owns(&self, buffer: &dyn DeviceBuffer) -> bool {
        NrtTensor::of(buffer, &self.session).is_some()
    }

    fn compile(&self, program: &Program<'_>) -> Result<Box<dyn Executable>> {
        let (ranks, (_, together)) = (program.options().num_replicas, self.options.in_stage());
        if u32::try_from(ranks) != Ok(together) {
            let of = if self.options.stages > 1 { " in its stage" } else { "" };
            let reason = format!("the program is of {ranks} ranks, this process is one of {together}{of}");
            return Err(RuntimeError::InvalidProgram(reason));
        }
        if !program.options().devices.is_empty() {
            let reason = "each rank is a process of its own here, and no devices are chosen".into();
            return Err(RuntimeError::InvalidProgram(reason));
        }
        let neff = program.neff().ok_or_else(|| {
            RuntimeError::InvalidProgram("libnrt runs NEFFs, and the program is not compiled to one".into())
        })?;
        Ok(Box::new(NrtModel::load(&self.session, neff, program.signature(), &self.options)?))
    }

    fn upload(&self, tensor: &HostTensor, device: usize) -> Result<Buffer> {
        if device != 0 {
            return Err(RuntimeError::InvalidInput(format!("there is no device {device}, this process has one, 0")));
        }
        let spec = TensorSpec::of(tensor);
        let buffer = NrtTensor::allocate(&self.session, &spec, CORE, self.options.call_timeout)?;
        buffer.write(tensor)?;
        Ok(Box::new(buffer))
    }
}
