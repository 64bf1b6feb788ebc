//! Programs sent to CPU XLA, counted: one that could not run for want of a plugin fails the whole run.

use crate::xla;
use halite_runtime::evaluate;
use halite_tensor::HostTensor;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many programs went through CPU XLA, and how many could not.
#[derive(Debug, Default)]
pub struct Executions {
    done: AtomicUsize,
    skipped: AtomicUsize,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub enum Execution {
    /// The results.
    Done(Vec<HostTensor>),
    /// There is no plugin.
    Skipped,
}

impl Executions {
    /// Compiles HLO and runs it, every rounding as it is written.
    ///
    /// # Errors
    /// What XLA says.
    pub fn run(&self, hlo: &[u8], inputs: &[HostTensor]) -> Result<Execution, String> {
        let Ok(client) = xla::try_client() else {
            self.skipped.fetch_add(1, Ordering::Relaxed);
            return Ok(Execution::Skipped);
        };
        self.done.fetch_add(1, Ordering::Relaxed);
        let executable = xla::compile(hlo, 1).map_err(|error| error.to_string())?;
        evaluate(client, executable.as_ref(), inputs).map(Execution::Done).map_err(|error| error.to_string())
    }

    /// Programs that XLA took.
    pub fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }

    /// Programs that could not run.
    pub fn skipped(&self) -> usize {
        self.skipped.load(Ordering::Relaxed)
    }
}
