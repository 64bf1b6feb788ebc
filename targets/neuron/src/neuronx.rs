//! Compiles the modules of a bundle to NEFFs: `neuronx-cc` driven in parallel, with a store of what it made before.
//!
//! [`plan`] lists the tasks, [`Compiler`] is the `neuronx-cc` that was found, [`Store`] keeps NEFFs by the inputs of their compile,
//! and [`compile`] brings them together. A compile writes in a folder of its own below the store; nothing but a finished and checked
//! NEFF is ever moved into the store, so that neither a failed compile nor a killed process leaves anything there.

mod command;
mod compiler;
mod flags;
mod gc;
mod job;
mod key;
mod log;
mod neff;
pub mod process;
mod script;
mod store;
mod task;
mod work;
mod workers;

pub use command::{arguments, check_environment};
pub use compiler::{Compiler, find};
pub use flags::flag_hash;
pub use gc::{GcRule, Kept, Removed, State};
pub use job::{End, Outcome, Product};
pub use script::script;
pub use store::{Entry, Store};
pub use task::{Task, plan};
pub use workers::{MEMORY_PER_JOB, default_jobs, host_memory};

use halite_disk::Disk;
use halite_support::Result;
use halite_support::files::cannot;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Options of [`compile`]: `Options { jobs: 2, ..Options::new(compiler, store, output, interrupt) }`.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The `neuronx-cc` that is run, its version known.
    pub compiler: &'a Compiler,
    /// The store that keeps NEFFs, below which compilers work.
    pub store: &'a Store,
    /// The folder that gets `<module>.neff` and `<module>.log`.
    pub output: &'a Path,
    /// The number of compilers that may run at once, at least one.
    pub jobs: usize,
    /// The time limit of one compile, after which it is ended and its task fails; `None` for no limit.
    pub timeout: Option<Duration>,
    /// Becomes true when everything is to stop: compilers are ended then, and nothing more is started.
    pub interrupt: &'a AtomicBool,
}

impl<'a> Options<'a> {
    /// One compiler at a time, for as long as it takes.
    pub fn new(compiler: &'a Compiler, store: &'a Store, output: &'a Path, interrupt: &'a AtomicBool) -> Self {
        Self { compiler, store, output, jobs: 1, timeout: None, interrupt }
    }
}

/// Receives progress while compilers run. Calls come from several threads.
pub trait Observer: Sync {
    /// A task waits for another process that compiles the same.
    fn waiting(&self, _task: &Task) {}
    /// The compiler was started on a task.
    fn compiling(&self, _task: &Task) {}
    /// A task is done, one way or the other.
    fn done(&self, _outcome: &Outcome) {}
}

/// Has every task compiled that the store does not hold, and puts the NEFFs into the output folder.
///
/// A task that fails does not stop the others; its [`Outcome`] says why, also where the interrupt stopped it. Outcomes are
/// in the order of the tasks.
///
/// # Errors
/// When the output folder cannot be made.
pub fn compile(tasks: &[Task], options: &Options<'_>, observer: &dyn Observer) -> Result<Vec<Outcome>> {
    let output = options.output;
    Disk::default().make_folder(output).map_err(|error| cannot("make the folder", output, &error))?;
    Ok(workers::run(tasks, options.jobs, |task| {
        let outcome = job::run(task, options, observer);
        observer.done(&outcome);
        outcome
    }))
}
