//! The place where the self-test runs: the compiler, the runtime, and how processes are started.

use halite_neuron::neuronx::Compiler;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The compiler and runtime under test, and how processes are started.
#[derive(Clone, Debug)]
pub struct Place {
    /// `neuronx-cc`, or why there is none.
    pub compiler: Result<Compiler, String>,
    /// The runtime that executes programs, or why there is none.
    pub runtime: Result<Runtime, String>,
    /// How a process is started that runs programs.
    pub launcher: Launcher,
    /// A folder for programs, results and NEFFs.
    pub work: PathBuf,
}

/// A runtime that executes programs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runtime {
    /// The library at this path, with NEFFs.
    Nrt(PathBuf),
    /// The PJRT plugin at this path, which compiles by itself.
    Pjrt(PathBuf),
}

/// A program that calls [`work`](crate::work) with the folder that it is given as its last argument.
#[derive(Clone, Debug)]
pub struct Launcher {
    /// The program.
    pub program: PathBuf,
    /// Its arguments before the folder.
    pub arguments: Vec<OsString>,
    /// Variables of its environment beside those that are inherited and those that the target needs.
    pub environment: Vec<(String, String)>,
}

/// Limits on the time and resources of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// A compile.
    pub compile: Duration,
    /// The start of the runtime, and loading a program.
    pub load: Duration,
    /// A run of a program.
    pub call: Duration,
    /// A process with all its programs.
    pub process: Duration,
    /// How many compilers run at once.
    pub jobs: usize,
    /// The port on this machine where the ranks of a collective find each other.
    pub port: u16,
    /// Becomes true when everything is to stop.
    pub interrupt: &'a AtomicBool,
}
