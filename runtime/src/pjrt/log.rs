//! The log of XLA.

use std::env;

/// The environment variable that sets XLA's log level. It is read once, when the plugin is loaded.
const LEVEL: &str = "TF_CPP_MIN_LOG_LEVEL";

/// Asks XLA to log fatal errors only, unless the environment says how much to log: all others come back as a status or,
/// such as those of its search for fusions, mean nothing to a user. True when the environment says how much to log, now or
/// already before.
///
/// Without it a plugin of XLA writes lines to the standard error of the process that opens it; that of the CPU tells how
/// many devices it was asked for. It has no option and exports no function by which a client could say otherwise, only the
/// environment of the process, and that is the program's own. So a program decides: it calls this function before
/// anything else, or is started with `TF_CPP_MIN_LOG_LEVEL=3`, or has the lines.
///
/// ```no_run
/// // First of all in `main`; after it, threads may start and plugins be opened.
/// let is_quiet = halite_runtime::silence_xla_log();
/// # _ = is_quiet;
/// ```
///
/// This is for the first lines of `main`, because it sets `TF_CPP_MIN_LOG_LEVEL`. That is sound only while no other thread
/// can read the environment, so nothing happens, and the answer is false, when the process has other threads or does not
/// say how many.
pub fn silence_xla_log() -> bool {
    if env::var_os(LEVEL).is_some() {
        return true;
    }
    let alone = std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1);
    if alone {
        // SAFETY: this is the only thread of the process.
        unsafe { env::set_var(LEVEL, "3") };
    }
    alone
}
