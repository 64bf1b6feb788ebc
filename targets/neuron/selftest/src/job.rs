//! The job of a process and its answers, as files in a folder of its own.

use crate::place::Runtime;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The file with the [`Job`].
const JOB: &str = "job.json";

/// The file with the [`Ready`].
const READY: &str = "ready.json";

/// Programs to run in order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) runtime: Runtime,
    /// The rank of this process, and how many there are; a plugin runs all ranks in one process.
    pub(crate) rank: (u32, u32),
    /// How long a call may take, in seconds.
    pub(crate) call_seconds: u64,
    /// How long loading may take, in seconds.
    pub(crate) load_seconds: u64,
    pub(crate) programs: Vec<Order>,
}

/// One program with its inputs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) name: String,
    pub(crate) hlo: PathBuf,
    pub(crate) neff: Option<PathBuf>,
    pub(crate) ranks: usize,
    pub(crate) inputs: Vec<String>,
    pub(crate) outputs: Vec<String>,
    pub(crate) aliases: Vec<Option<usize>>,
    pub(crate) runs: usize,
}

/// The message of a process that has a core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ready {
    pub(crate) platform: String,
    pub(crate) version: String,
    pub(crate) cores: usize,
}

/// The outcome of a program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// Why there are no results; nothing where there are.
    pub(crate) error: Option<String>,
}

pub(crate) fn job(folder: &Path) -> PathBuf {
    folder.join(JOB)
}

pub(crate) fn ready(folder: &Path) -> PathBuf {
    folder.join(READY)
}

/// The inputs of a program: all of the first run, then of each run, for each rank of the process.
pub(crate) fn inputs(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.inputs"))
}

/// The results of a program in the order of its inputs.
pub(crate) fn results(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.results"))
}

pub(crate) fn answer(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.answer.json"))
}

/// Writes one of these as JSON.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn put(path: &Path, value: &impl Serialize) -> halite_support::Result<()> {
    halite_disk::write(path, &serde_json::to_vec(value).unwrap_or_default())
}

/// Reads one of these; nothing where it is not there or not whole.
pub(crate) fn get<T: for<'a> Deserialize<'a>>(path: &Path) -> Option<T> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}
