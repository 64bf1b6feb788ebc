//! The contents of a store, and the removal of unused ones.

use super::store::{ENTRIES, ENTRY, Entry, FAILED, Store, WORK, remove};
use super::work;
use halite_support::Result;
use halite_support::files::cannot;
use serde::Serialize;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// An item in a store.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Kept {
    /// The key that it is stored under.
    pub key: String,
    /// Its entry; `None` for a NEFF whose entry cannot be read, and for items that are no NEFF.
    pub entry: Option<Entry>,
    /// Its state.
    pub state: State,
    /// Bytes of its files.
    pub bytes: u64,
    /// How long ago it was last used.
    pub age: Duration,
}

/// The state of an item in a store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// A compiler works there.
    Working,
    /// A failed or killed compile left it.
    Failed,
    /// A NEFF that a compile finished.
    Stored,
}

/// The items that [`Store::gc`] removes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum GcRule {
    /// Everything.
    All,
    /// Items that were not used for this long.
    Older(Duration),
    /// Leftovers of failed compiles, then the longest unused items, until no more than this many bytes are kept.
    Keep(u64),
}

/// Counts of the items that [`Store::gc`] removed and left.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Removed {
    /// How many entries and leftovers went.
    pub count: usize,
    /// The bytes of their files.
    pub bytes: u64,
    /// How many were left because another process uses them.
    pub in_use: usize,
}

impl Store {
    /// Everything in the store: where compilers work, what failed compiles left, then NEFFs; of each the longest unused
    /// first.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn list(&self) -> Result<Vec<Kept>> {
        let mut all = Vec::new();
        for (folder, state) in [(WORK, State::Working), (FAILED, State::Failed), (ENTRIES, State::Stored)] {
            for key in names(&self.root().join(folder))? {
                all.push(self.kept(folder, key, state));
            }
        }
        all.sort_by(|left, right| (left.state, right.age, &left.key).cmp(&(right.state, left.age, &right.key)));
        Ok(all)
    }

    fn kept(&self, folder: &str, key: String, state: State) -> Kept {
        let path = self.root().join(folder).join(&key);
        let (bytes, newest) = size(&path);
        let text = std::fs::read(path.join(ENTRY)).ok().filter(|_| state == State::Stored);
        let entry = text.and_then(|text| Entry::parse(&text, &key).ok());
        let age = newest.and_then(|time| SystemTime::now().duration_since(time).ok()).unwrap_or_default();
        // Nobody has the lock of a key whose compile was killed.
        let is_left = state == State::Working && !self.is_locked(&key);
        Kept { key, entry, state: if is_left { State::Failed } else { state }, bytes, age }
    }

    /// Removes the items that the rule selects. Those that another process compiles or reads are left alone.
    ///
    /// # Errors
    /// When something cannot be read or removed.
    pub fn gc(&self, rule: GcRule) -> Result<Removed> {
        let all = self.list()?;
        let mut kept: u64 = all.iter().map(|one| one.bytes).sum();
        let mut removed = Removed::default();
        for one in all {
            let goes = match rule {
                GcRule::All => true,
                GcRule::Older(limit) => one.age >= limit,
                GcRule::Keep(most) => kept > most,
            };
            if !goes {
                continue;
            }
            let Some(lock) = self.try_lock(&one.key)? else {
                removed.in_use += 1;
                continue;
            };
            match one.state {
                State::Stored => self.discard(&one.key, &lock)?,
                State::Working | State::Failed => {
                    work::retire(self, &one.key, &lock)?;
                    remove(&self.failed(&one.key))?;
                }
            }
            kept -= one.bytes;
            removed.count += 1;
            removed.bytes += one.bytes;
        }
        Ok(removed)
    }
}

/// The names in a folder, sorted; none where it is not there.
fn names(folder: &Path) -> Result<Vec<String>> {
    let fault = |error: io::Error| cannot("read", folder, &error);
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(fault)?,
    };
    // A name that is no text is no key.
    let names = entries.filter_map(|entry| entry.map(|entry| entry.file_name().into_string().ok()).transpose());
    let mut names = names.collect::<io::Result<Vec<_>>>().map_err(fault)?;
    names.sort();
    Ok(names)
}

/// Bytes of all files below a path and the time of the newest. Files that vanish meanwhile do not count.
fn size(path: &Path) -> (u64, Option<SystemTime>) {
    let Ok(meta) = path.symlink_metadata() else { return (0, None) };
    if !meta.is_dir() {
        return (meta.len(), meta.modified().ok());
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .map(|entry| size(&entry.path()))
        .fold((0, None), |(bytes, newest), (more, time)| (bytes + more, newest.max(time)))
}
