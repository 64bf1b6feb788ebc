//! Startups of the processes of a run: the time before the first update, and where they ran.

use halite_runtime::Executor;
use halite_support::{Diagnostic, Result};
use serde::{Deserialize, Serialize};

/// The time that a process took before its first update, and where it ran; a line of `startup.jsonl`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Startup {
    /// Updates before it.
    pub update: u64,
    /// Seconds in which Halite compiled the recipe; `None` where it was compiled before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compile_seconds: Option<f64>,
    /// Seconds that an update is estimated to take on devices of the target, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_seconds: Option<f64>,
    /// Seconds in which the executor compiled the modules, or loaded compiled ones, and took the held-out data.
    pub load_seconds: f64,
    /// The version of Halite.
    pub halite: String,
    /// The platform that the executor states, such as `cpu`.
    pub platform: String,
    /// The system of the host, such as `linux`.
    pub os: String,
    /// The processor of the host, such as `x86_64`.
    pub arch: String,
    /// The cores of the host that the process may use.
    pub cores: usize,
}

impl Startup {
    /// The startup of this process, which begins after an update.
    pub(super) fn here(update: u64, executor: &dyn Executor, compile_seconds: Option<f64>, load_seconds: f64) -> Self {
        Self {
            update,
            compile_seconds,
            update_seconds: None,
            load_seconds,
            halite: env!("CARGO_PKG_VERSION").to_owned(),
            platform: executor.platform().to_owned(),
            os: std::env::consts::OS.to_owned(),
            arch: std::env::consts::ARCH.to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Records as JSON lines.
///
/// # Errors
/// None that finite numbers give.
pub(super) fn to_json_lines<T: Serialize>(records: &[T]) -> Result<String> {
    let line = |record| serde_json::to_string(record).map(|line| line + "\n");
    records.iter().map(line).collect::<serde_json::Result<_>>().map_err(|error| Diagnostic::bug(error.to_string()))
}
