//! The folder in which one compiler works.
//!
//! Its lock is a file that this process and the compiler both hold open, the compiler as its standard input. So the lock
//! tells whether anyone still writes there, even when this process was killed: whoever has the lock of the key and finds
//! the folder locked has found a compiler without master.

use super::store::{KeyLock, Store};
use halite_disk::Disk;
use halite_support::Result;
use halite_support::files::cannot;
use rustix::process::{Pid, Signal};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

const LOCK: &str = "lock";
/// The file with the id of the compiler's process group.
const GROUP: &str = "group";
/// How long a compiler that was killed may take to be gone.
const PATIENCE: Duration = Duration::from_secs(5);

/// A work folder that this process made.
#[derive(Debug)]
pub(super) struct Work {
    path: PathBuf,
    lock: File,
}

impl Work {
    /// Makes the folder of a key, after what an earlier process may have left there is out of the way.
    pub(super) fn begin(store: &Store, key: &str, lock: &KeyLock) -> Result<Self> {
        retire(store, key, lock)?;
        let path = store.work(key);
        let fault = |error: io::Error| cannot("make the folder", &path, &error);
        Disk::default().make_folder(&path).map_err(fault)?;
        let lock = File::options().create_new(true).append(true).read(true).open(path.join(LOCK)).map_err(fault)?;
        lock.lock().map_err(fault)?;
        Ok(Self { path, lock })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What the compiler gets as its standard input: nothing to read, and its share of the lock.
    pub(super) fn input(&self) -> io::Result<Stdio> {
        Ok(self.lock.try_clone()?.into())
    }

    /// Notes the process group of the compiler, for whoever finds it without master.
    pub(super) fn note_group(&self, id: u32) -> io::Result<()> {
        Disk::default().write_new(&self.path.join(GROUP), id.to_string().as_bytes())
    }

    /// Removes the folder.
    pub(super) fn finish(self) -> Result<()> {
        Disk::default().remove_folder(&self.path).map_err(|error| cannot("remove", &self.path, &error))
    }

    /// Keeps the folder for whoever wants to know why the compile failed, and says where.
    pub(super) fn keep(self, store: &Store, key: &str) -> Result<PathBuf> {
        let place = store.failed(key);
        keep(&self.path, &place)?;
        Ok(place)
    }
}

/// Ends a compiler whose master was killed, and keeps what it left like that of a failed compile.
pub(super) fn retire(store: &Store, key: &str, _lock: &KeyLock) -> Result<()> {
    let path = store.work(key);
    if !path.exists() {
        return Ok(());
    }
    end_compiler(&path);
    // One that is still there works on in the folder, wherever that is, and nobody reads what it writes.
    keep(&path, &store.failed(key))
}

/// Removes what a process left that was killed after it had stored its NEFF.
pub(super) fn clear(store: &Store, key: &str, _lock: &KeyLock) -> Result<()> {
    let path = store.work(key);
    if !path.exists() {
        return Ok(());
    }
    end_compiler(&path);
    Disk::default().remove_folder(&path).map_err(|error| cannot("remove", &path, &error))
}

/// Ends the compiler that still works in a folder, and waits for that.
fn end_compiler(path: &Path) {
    if is_locked(path) && end_group(path) {
        let start = Instant::now();
        while is_locked(path) && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn keep(path: &Path, place: &Path) -> Result<()> {
    let disk = Disk::default();
    disk.remove_folder(place).map_err(|error| cannot("remove", place, &error))?;
    disk.rename(path, place).map_err(|error| cannot("move", path, &error))
}

fn is_locked(path: &Path) -> bool {
    let lock = File::open(path.join(LOCK));
    lock.is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Kills the process group that works in a folder; says whether there was one.
fn end_group(path: &Path) -> bool {
    let text = std::fs::read_to_string(path.join(GROUP)).unwrap_or_default();
    let Some(leader) = text.trim().parse().ok().and_then(Pid::from_raw) else { return false };
    // The number may have gone to another process since; that one works elsewhere.
    let works_here = std::fs::read_link(format!("/proc/{}/cwd", leader.as_raw_nonzero()))
        .ok()
        .zip(path.canonicalize().ok())
        .is_some_and(|(cwd, path)| cwd == path);
    if works_here {
        super::process::signal(leader, Signal::KILL);
    }
    works_here
}
