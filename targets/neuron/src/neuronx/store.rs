//! The store: NEFFs by what they were made from.
//!
//! ```text
//! entries/<key>/   model.neff, entry.json, log     put in place by one rename
//! locks/<key>.lock                                 held by whoever compiles, reads or removes the entry
//! work/<key>/                                      where a compiler works
//! failed/<key>/                                    what the last failed or killed compile left
//! ```
//!
//! A lock belongs to a process and ends with it, so that none is ever stale. File locks of network file systems may not
//! hold; the store belongs on a disk of the machine.

mod entry;

pub use entry::Entry;

use halite_bundle::sha256;
use halite_disk::{Disk, Held};
use halite_support::files::{cannot, folder_of};
use halite_support::{Diagnostic, Result, codes};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

pub(super) const ENTRIES: &str = "entries";
const LOCKS: &str = "locks";
pub(super) const WORK: &str = "work";
pub(super) const FAILED: &str = "failed";
const NEFF: &str = "model.neff";
pub(super) const ENTRY: &str = "entry.json";
const LOG: &str = "log";
/// The interval at which a lock that another process holds is tried again.
const POLL: Duration = Duration::from_millis(50);

/// A folder with NEFFs.
#[derive(Debug)]
pub struct Store {
    root: PathBuf,
    /// Removes the folder of a store for one run.
    temporary: Option<TempDir>,
}

/// A NEFF with what is said about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Finished {
    pub(super) entry: Entry,
    pub(super) neff: Vec<u8>,
    pub(super) log: Vec<u8>,
}

/// The right to everything under one key; it ends when this is dropped, or with the process.
#[derive(Debug)]
pub(super) struct KeyLock(#[expect(dead_code, reason = "it is held")] Held);

impl Store {
    /// `$XDG_CACHE_HOME/halite/neff`, else `~/.cache/halite/neff`; `None` without a home.
    pub fn default_folder() -> Option<PathBuf> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
        Some(cache?.join("halite").join("neff"))
    }

    /// The store in a folder, which is made when it is not there.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub fn open(root: &Path) -> Result<Self> {
        let unusable = |error: Diagnostic| {
            Diagnostic::error(codes::NEFF_STORE, format!("the store `{}` cannot be used", root.display()))
                .note(error.message())
        };
        let root = std::path::absolute(root).map_err(|error| unusable(cannot("find", root, &error)))?;
        for folder in [ENTRIES, LOCKS, WORK, FAILED] {
            let folder = root.join(folder);
            Disk::default()
                .make_folder(&folder)
                .map_err(|error| unusable(cannot("make the folder", &folder, &error)))?;
            // An existing folder tells nothing of whether it can be written to.
            tempfile::tempfile_in(&folder).map_err(|error| unusable(cannot("write to", &folder, &error)))?;
        }
        Ok(Self { root, temporary: None })
    }

    /// The store in a folder, to look at only: nothing is made there, and one that does not exist is empty.
    ///
    /// # Errors
    /// When the folder cannot be named.
    pub fn look(root: &Path) -> Result<Self> {
        let root = std::path::absolute(root).map_err(|error| cannot("find", root, &error))?;
        Ok(Self { root, temporary: None })
    }

    /// A store for one run, in the system's folder for temporary files.
    ///
    /// # Errors
    /// When that cannot be written to.
    pub fn temporary() -> Result<Self> {
        let made = tempfile::Builder::new().prefix("halite-neuronx-").tempdir();
        let temporary = made.map_err(|error| cannot("write to", &std::env::temp_dir(), &error))?;
        let store = Self::open(temporary.path())?;
        Ok(Self { temporary: Some(temporary), ..store })
    }

    /// The folder that holds all of it.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Ends the use of a store. One for a single run is removed but for what failed compiles left.
    pub fn close(mut self) {
        let Some(temporary) = &mut self.temporary else { return };
        let failed = std::fs::read_dir(self.root.join(FAILED));
        if failed.is_ok_and(|mut entries| entries.next().is_some()) {
            temporary.disable_cleanup(true);
            for folder in [ENTRIES, LOCKS, WORK] {
                // What stays of them is in nobody's way.
                let _ = remove(&self.root.join(folder));
            }
        }
    }

    /// Waits for the right to a key; `None` when the interrupt came first. `waiting` is called once if it must wait.
    pub(super) fn lock(&self, key: &str, interrupt: &AtomicBool, waiting: impl FnOnce()) -> Result<Option<KeyLock>> {
        let mut waiting = Some(waiting);
        loop {
            if let Some(lock) = self.try_lock(key)? {
                return Ok(Some(lock));
            }
            if interrupt.load(Ordering::Relaxed) {
                return Ok(None);
            }
            if let Some(waiting) = waiting.take() {
                waiting();
            }
            std::thread::sleep(POLL);
        }
    }

    fn lock_file(&self, key: &str) -> PathBuf {
        self.root.join(LOCKS).join(format!("{key}.lock"))
    }

    /// Whether some process has the right to a key.
    pub(super) fn is_locked(&self, key: &str) -> bool {
        File::open(self.lock_file(key)).is_ok_and(Held::elsewhere)
    }

    /// The right to a key, unless another process has it.
    pub(super) fn try_lock(&self, key: &str) -> Result<Option<KeyLock>> {
        let path = self.lock_file(key);
        let cannot = |error: std::io::Error| cannot("lock", &path, &error);
        let file = File::options().create(true).append(true).open(&path).map_err(cannot)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(KeyLock(Held::of(file)))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(cannot(error)),
        }
    }

    fn entry(&self, key: &str) -> PathBuf {
        self.root.join(ENTRIES).join(key)
    }

    /// The folder in which the compiler works on a key.
    pub(super) fn work(&self, key: &str) -> PathBuf {
        self.root.join(WORK).join(key)
    }

    /// The folder of what a failed compile left.
    pub(super) fn failed(&self, key: &str) -> PathBuf {
        self.root.join(FAILED).join(key)
    }

    /// The NEFF under a key, with its size and checksum compared; a hit counts as use. An entry that does not match its description is
    /// an error with the reason.
    pub(super) fn fetch(&self, key: &str, _lock: &KeyLock) -> std::result::Result<Option<Finished>, String> {
        let folder = self.entry(key);
        if !folder.exists() {
            return Ok(None);
        }
        let finished = self.verified(key)?;
        // The time of the last use, for `gc`; without it, the time of the compile stands.
        let _ =
            File::options().append(true).open(folder.join(ENTRY)).and_then(|file| file.set_modified(SystemTime::now()));
        Ok(Some(finished))
    }

    /// An entry with its files, or why it is none.
    fn verified(&self, key: &str) -> std::result::Result<Finished, String> {
        let folder = self.entry(key);
        let read = |name: &str| std::fs::read(folder.join(name)).map_err(|error| format!("`{name}`: {error}"));
        let entry = Entry::parse(&read(ENTRY)?, key)?;
        let neff = read(NEFF)?;
        if neff.len() as u64 != entry.bytes {
            return Err(format!("`{NEFF}` has {} bytes instead of {}", neff.len(), entry.bytes));
        }
        if sha256(&neff) != entry.sha256 {
            return Err(format!("`{NEFF}` is not the file that was stored: its SHA-256 is another"));
        }
        Ok(Finished { entry, neff, log: read(LOG)? })
    }

    /// Removes an entry.
    pub(super) fn discard(&self, key: &str, _lock: &KeyLock) -> Result<()> {
        remove(&self.entry(key))
    }

    /// Puts a NEFF under a key, whole or not at all. It is written in the work folder first.
    pub(super) fn put(&self, key: &str, finished: &Finished, work: &Path, _lock: &KeyLock) -> Result<()> {
        let fresh = work.join("entry");
        let disk = Disk::default();
        disk.make_folder(&fresh).map_err(|error| cannot("make the folder", &fresh, &error))?;
        for (name, bytes) in [(NEFF, &finished.neff), (LOG, &finished.log), (ENTRY, &finished.entry.to_json())] {
            let path = fresh.join(name);
            disk.write_new(&path, bytes).map_err(|error| cannot("write", &path, &error))?;
        }
        let place = self.entry(key);
        let put = || {
            disk.sync_folder(&fresh)?;
            disk.rename(&fresh, &place)?;
            disk.sync_folder(&folder_of(&place))
        };
        put().map_err(|error| cannot("write", &place, &error))
    }
}

/// Removes a folder that may not be there.
pub(super) fn remove(folder: &Path) -> Result<()> {
    Disk::default().remove_folder(folder).map_err(|error| cannot("remove", folder, &error))
}

#[cfg(test)]
mod tests;
