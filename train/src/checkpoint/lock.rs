//! The lock that keeps two runs out of one folder.

use super::manifest::unchanged;
use halite_disk::{Disk, Lock, Locking};
use halite_support::{Diagnostic, Result, codes};
use std::path::Path;

/// Name of the lock file in the folder of a run.
pub(crate) const LOCK: &str = "run.lock";

/// A lock that is held while a run works in its folder; it ends with the process, however that ends.
#[derive(Debug)]
pub(crate) struct RunLock {
    _lock: Lock,
}

impl RunLock {
    /// Takes the folder of a run.
    ///
    /// # Errors
    /// When another run has it, with its process, machine and start; those of the system.
    pub(crate) fn take(disk: &Disk, run: &Path) -> Result<Self> {
        let path = run.join(LOCK);
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let holder = format!("process {} on {}", std::process::id(), host.trim());
        match Lock::take(disk, &path, &holder).map_err(unchanged("lock", &path))? {
            Locking::Taken(lock) => Ok(Self { _lock: lock }),
            Locking::HeldBy(holder) => Err(held(run, &path, &holder)),
        }
    }
}

fn held(run: &Path, lock: &Path, holder: &str) -> Diagnostic {
    // The file was written when that run started.
    let age = std::fs::metadata(lock).and_then(|meta| meta.modified()).ok().and_then(|start| start.elapsed().ok());
    let age = age.map_or_else(String::new, |age| format!(", started {} s ago", age.as_secs()));
    Diagnostic::error(codes::RUN_LOCKED, format!("another run works in `{}`: {holder}{age}", run.display()))
        .help("wait for its end, or choose another folder with `-o`")
}
