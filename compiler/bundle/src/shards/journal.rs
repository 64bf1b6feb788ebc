//! The journal of a write of a checkpoint of several files: the changes to come, so that the next write can end what a killed one
//! began.
//!
//! New files get names that are free; then one rename of the head, which is the index or the only file, makes them the
//! checkpoint; then the old files go. The journal lies beside them from before the first to after the last.

use super::{INDEX, SUFFIX, is_shard, named_by};
use halite_disk::{Disk, Held, unfinished};
use halite_support::files::{UNFINISHED, cannot, folder_of, read};
use halite_support::{Diagnostic, Result, codes};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The names of files, all in the folder of the journal.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Changes {
    /// The head of the new checkpoint.
    pub(super) head: String,
    /// Files that are needed only once the head is that of the new checkpoint.
    pub(super) new: Vec<String>,
    /// Files that are not needed from then on.
    pub(super) old: Vec<String>,
}

/// A journal that is there.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    name: String,
    changes: Changes,
    /// Held as long as somebody works by the journal.
    _lock: Held,
}

impl Journal {
    /// The path of the journal of the checkpoint `name` in a folder.
    fn path(folder: &Path, name: &str) -> PathBuf {
        folder.join(format!("{UNFINISHED}{name}.json"))
    }

    /// Writes down the changes that are about to be made.
    pub(super) fn begin(disk: &Disk, folder: &Path, name: &str, changes: &Changes) -> Result<Self> {
        let path = Self::path(folder, name);
        let bytes = serde_json::to_vec(changes).map_err(|error| Diagnostic::bug(error.to_string()))?;
        unfinished(disk, &path, &bytes)?.finish().map_err(|error| cannot("write", &path, &error))?;
        Self::open(folder, name)?.ok_or_else(|| cannot("write", &path, &std::io::ErrorKind::NotFound.into()))
    }

    /// Opens the journal that another write left; `None` where there is none, or a file that is no journal.
    ///
    /// # Errors
    /// When another process holds it, or it cannot be read.
    fn open(folder: &Path, name: &str) -> Result<Option<Self>> {
        let path = Self::path(folder, name);
        let Ok(lock) = File::open(&path) else { return Ok(None) };
        if matches!(lock.try_lock(), Err(std::fs::TryLockError::WouldBlock)) {
            let message = format!("another process is writing the checkpoint `{}`", folder.join(name).display());
            return Err(Diagnostic::error(codes::FILE, message).help("wait until it ends, or choose another place"));
        }
        let lock = Held::of(lock);
        let changes = serde_json::from_slice(&read(&path)?).ok();
        Ok(changes.map(|changes| Self { path, name: name.to_owned(), changes, _lock: lock }))
    }

    /// Ends what a killed write of this checkpoint began.
    pub(super) fn settle_old(disk: &Disk, folder: &Path, name: &str) -> Result<()> {
        Self::open(folder, name)?.map_or(Ok(()), |journal| journal.settle(disk))
    }

    /// The head of the checkpoint, where a write was killed when only old files were left to remove.
    pub(super) fn head(folder: &Path, name: &str) -> Option<PathBuf> {
        let changes: Changes = serde_json::from_slice(&std::fs::read(Self::path(folder, name)).ok()?).ok()?;
        is_done(folder, &changes).then(|| folder.join(changes.head))
    }

    /// Removes the files of the checkpoint that does not count, then the journal. Only what has a name that is given here,
    /// and that no index needs, is removed.
    pub(super) fn settle(self, disk: &Disk) -> Result<()> {
        let folder = folder_of(&self.path);
        let goes = if is_done(&folder, &self.changes) { &self.changes.old } else { &self.changes.new };
        let heads = [SUFFIX, INDEX].map(|end| format!("{}{end}", self.name));
        let goes: Vec<&String> = goes.iter().filter(|file| **file != self.changes.head).collect();
        let needed = if goes.contains(&&heads[1]) { Vec::new() } else { named_by(&folder.join(&heads[1])) };
        let may_go = |file: &&String| heads.contains(file) || (is_shard(&self.name, file) && !needed.contains(file));
        // An index goes before its files.
        let (first, then): (Vec<_>, Vec<_>) = goes.into_iter().filter(may_go).partition(|file| heads.contains(file));
        for path in first.into_iter().chain(then).map(|file| folder.join(file)).chain([self.path]) {
            disk.remove(&path).map_err(|error| cannot("remove", &path, &error))?;
        }
        disk.sync_folder(&folder).map_err(|error| cannot("write", &folder, &error))
    }
}

/// Whether the head is that of the new checkpoint. New files have names that no older index has.
fn is_done(folder: &Path, changes: &Changes) -> bool {
    let head = folder.join(&changes.head);
    let named = if changes.new.is_empty() { Vec::new() } else { named_by(&head) };
    head.is_file() && changes.new.iter().all(|file| named.contains(file))
}
