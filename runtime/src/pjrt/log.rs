//! What XLA logs.

use std::env;

/// By which XLA is told what to log. It is read once, when the plugin is loaded.
const LEVEL: &str = "TF_CPP_MIN_LOG_LEVEL";

/// Asks XLA to log fatal errors only, unless the environment says how much to log: all others come back as a status or,
/// such as those of its search for fusions, mean nothing to a user.
///
/// This is for the first lines of a program's `main`, because it sets `TF_CPP_MIN_LOG_LEVEL`. That is sound only while no
/// other thread can read the environment, so nothing happens when the process has other threads or does not say how many.
pub fn silence_xla_log() {
    let alone = std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1);
    if alone && env::var_os(LEVEL).is_none() {
        // SAFETY: this is the only thread of the process.
        unsafe { env::set_var(LEVEL, "3") };
    }
}
