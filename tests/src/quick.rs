//! An executor for tests that load many programs which run shortly.

use halite_runtime::{
    Buffer, CompileOptions, DeviceBuffer, Executable, Executor, Input, MemoryStats, Program, Result, Signature,
};
use halite_tensor::HostTensor;
use halite_test_kit::xla;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// CPU XLA without optimizations. It compiles a program once, however often it is loaded, while it has few: each takes mappings of memory,
/// of which a process has 65,530.
#[derive(Default)]
struct Quick {
    programs: Mutex<HashMap<Key, Arc<dyn Executable>>>,
}

/// So many programs are kept that nothing runs.
const MOST: usize = 300;

/// The bytes of a program, its replicas and their devices.
type Key = (Vec<u8>, usize, Vec<usize>);

/// The executor, one for each test binary.
///
/// # Panics
/// When the plugin is missing.
pub fn executor() -> Arc<dyn Executor> {
    static EXECUTOR: OnceLock<Arc<Quick>> = OnceLock::new();
    EXECUTOR.get_or_init(Arc::default).clone()
}

impl Executor for Quick {
    fn platform(&self) -> String {
        xla::client().platform()
    }

    fn num_devices(&self) -> usize {
        xla::client().num_devices()
    }

    fn owns(&self, buffer: &dyn DeviceBuffer) -> bool {
        xla::client().owns(buffer)
    }

    fn compile(&self, program: &Program<'_>) -> Result<Box<dyn Executable>> {
        let options = CompileOptions { optimization_level: Some(0), ..program.options().clone() };
        let key = (program.hlo().to_vec(), options.num_replicas, options.devices.clone());
        let known = || self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known().get(&key).cloned();
        let shared = match found {
            Some(found) => found,
            None => {
                let compiled = Arc::from(xla::client().compile(&Program::new(program.hlo(), options)?)?);
                let mut known = known();
                if known.len() >= MOST {
                    known.retain(|_, program| Arc::strong_count(program) > 1);
                }
                known.entry(key).or_insert(compiled).clone()
            }
        };
        Ok(Box::new(Shared(shared)))
    }

    fn upload(&self, tensor: &HostTensor, device: usize) -> Result<Buffer> {
        xla::client().upload(tensor, device)
    }

    fn copy(&self, buffer: &dyn DeviceBuffer, device: usize) -> Result<Buffer> {
        xla::client().copy(buffer, device)
    }
}

/// A program that several loaded ones share.
struct Shared(Arc<dyn Executable>);

impl Executable for Shared {
    fn signature(&self) -> &Signature {
        self.0.signature()
    }

    fn devices(&self) -> &[usize] {
        self.0.devices()
    }

    fn memory_stats(&self) -> Result<MemoryStats> {
        self.0.memory_stats()
    }

    fn execute_replicas(&self, inputs: Vec<Vec<Input<'_>>>) -> Result<Vec<Vec<Buffer>>> {
        self.0.execute_replicas(inputs)
    }
}
