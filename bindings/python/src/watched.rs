//! An executor that tells what it does, and stops when it is told to.

use crate::wait::Work;
use halite::tensor::HostTensor;
use halite_runtime::{
    Buffer, DeviceBuffer, Executable, Executor, Pjrt, Program, ProgramFormat, Result, RuntimeError, Status, StatusCode,
};
use std::sync::atomic::{AtomicU64, Ordering};

/// A plugin on behalf of some work: before each program that it compiles and each tensor that it copies, it looks whether the work
/// is to end.
pub(crate) struct Watched {
    executor: Pjrt,
    work: Work,
    /// The number of compiled programs.
    compiled: AtomicU64,
}

impl Watched {
    pub(crate) fn new(executor: Pjrt, work: Work) -> Self {
        Self { executor, work, compiled: AtomicU64::new(0) }
    }

    fn step(&self, doing: &str, programs: u64) -> Result<()> {
        let cancelled =
            |_| RuntimeError::Client(Status::new(StatusCode::Cancelled, "the work was cancelled".to_owned()));
        self.work.step(format!("{doing} program {}", programs.max(1)), programs, None).map_err(cancelled)
    }
}

impl Executor for Watched {
    fn platform(&self) -> String {
        self.executor.platform()
    }

    fn num_devices(&self) -> usize {
        self.executor.num_devices()
    }

    fn format(&self) -> ProgramFormat {
        self.executor.format()
    }

    fn owns(&self, buffer: &dyn DeviceBuffer) -> bool {
        self.executor.owns(buffer)
    }

    fn compile(&self, program: &Program<'_>) -> Result<Box<dyn Executable>> {
        self.step("XLA compiles", self.compiled.fetch_add(1, Ordering::Relaxed) + 1)?;
        self.executor.compile(program)
    }

    fn upload(&self, tensor: &HostTensor, device: usize) -> Result<Buffer> {
        self.step("XLA runs", self.compiled.load(Ordering::Relaxed))?;
        self.executor.upload(tensor, device)
    }
}
