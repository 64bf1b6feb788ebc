//! The folder in which one compiler works.
//!
//! Its lock is a file that this process and the compiler both hold open, the compiler as its standard input. So the lock
//! tells whether anyone still writes there, even when this process was killed: whoever has the lock of the key and finds
//! the folder locked has found a compiler without master.

use super::store::{KeyLock, Store};
use halite_disk::{Disk, Held};
use halite_support::Result;
use halite_support::files::cannot;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

const LOCK: &str = "lock";
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

    /// The standard input of the compiler. It is empty and holds a share of the lock.
    pub(super) fn input(&self) -> io::Result<Stdio> {
        Ok(self.lock.try_clone()?.into())
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
    let start = Instant::now();
    // It is looked for anew each time: one that is being started has its standard input a moment later.
    while is_locked(path) && start.elapsed() < PATIENCE {
        for worker in workers(path) {
            // Beside the compiler, which leads a group, those of its children that have outlived it.
            let _ = kill_process_group(worker, Signal::KILL).or_else(|_| kill_process(worker, Signal::KILL));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn keep(path: &Path, place: &Path) -> Result<()> {
    let disk = Disk::default();
    disk.remove_folder(place).map_err(|error| cannot("remove", place, &error))?;
    disk.rename(path, place).map_err(|error| cannot("move", path, &error))
}

fn is_locked(path: &Path) -> bool {
    File::open(path.join(LOCK)).is_ok_and(Held::elsewhere)
}

/// The processes whose standard input is the lock of a folder: the compiler and what it has started. The system knows them
/// from the start, at whatever moment their master was killed.
fn workers(path: &Path) -> Vec<Pid> {
    let Ok(lock) = path.join(LOCK).canonicalize() else { return Vec::new() };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
    let input = |id: Pid| std::fs::read_link(format!("/proc/{}/fd/0", id.as_raw_nonzero())).ok();
    ids.filter(|id| input(*id).as_ref() == Some(&lock)).collect()
}
