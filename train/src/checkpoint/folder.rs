//! The checkpoints in the folder of a run.

use super::manifest::{FileSum, Manifest, NAME, unchanged};
use halite_bundle::parts;
use halite_bundle::tensors::{self, Tensors};
use halite_disk::Disk;
use halite_support::{Diagnostic, Result, codes};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// File name of a state that one process holds whole, in a checkpoint and in the folder of a run.
pub(crate) const STATE: &str = "state.safetensors";

/// The digits of an update in the name of its folder, so that names sort as updates do.
const DIGITS: usize = 8;

/// The checkpoints of a run, each in `checkpoints/NNNNNNNN`, the number being that of completed updates. A checkpoint is the state, in one
/// file or in [parts], and `checkpoint.json` with the size and the SHA-256 of each file, which is written when all else is on the
/// device: what lacks it, or differs from it, is no checkpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checkpoints {
    folder: PathBuf,
    disk: Disk,
}

/// A checkpoint that is whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checkpoint {
    /// Completed updates.
    pub update: u64,
    /// The file with the state, or the index of its parts.
    pub state: PathBuf,
}

/// The newest checkpoint that a run can resume from.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Newest {
    /// The newest checkpoint that is whole, if there is one.
    pub checkpoint: Option<Checkpoint>,
    /// The faults of newer checkpoints that are not whole.
    pub passed_over: Vec<Diagnostic>,
}

impl Checkpoints {
    /// The checkpoints in the folder of a run. The folder is made when one is saved.
    pub fn new(run: &Path) -> Self {
        Self::on(run, Disk::default())
    }

    /// The same on a certain disk.
    pub(crate) fn on(run: &Path, disk: Disk) -> Self {
        Self { folder: run.join("checkpoints"), disk }
    }

    /// The folder that they are in.
    pub(crate) fn place(&self) -> &Path {
        &self.folder
    }

    /// The folder of the checkpoint of an update.
    pub fn folder(&self, update: u64) -> PathBuf {
        self.folder.join(format!("{update:0DIGITS$}"))
    }

    /// The updates that have a folder, whole or not, in order.
    pub fn updates(&self) -> Vec<u64> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut updates: Vec<u64> = entries.filter_map(|entry| update_of(&entry.path())).collect();
        updates.sort_unstable();
        updates
    }

    /// Finds the newest whole checkpoint. Every byte of it is read.
    pub fn newest(&self) -> Newest {
        self.newest_until(u64::MAX)
    }

    /// As [`newest`](Self::newest), among the checkpoints of updates up to `last`.
    pub(crate) fn newest_until(&self, last: u64) -> Newest {
        let mut newest = Newest::default();
        for update in self.updates().into_iter().rev().filter(|&update| update <= last) {
            match Checkpoint::open(&self.folder(update)) {
                Ok(checkpoint) => {
                    newest.checkpoint = Some(checkpoint);
                    break;
                }
                Err(error) => newest.passed_over.push(error),
            }
        }
        newest
    }

    /// Whether there is a checkpoint of an update, its files being there in their sizes.
    pub fn has(&self, update: u64) -> bool {
        let folder = self.folder(update);
        Manifest::read(&folder, update).is_ok_and(|manifest| manifest.has_sizes(&folder))
    }

    /// Saves the state after so many updates. Where these have a checkpoint already, it stays.
    ///
    /// # Errors
    /// When it cannot be written: older checkpoints are as they were, and it can be tried again.
    pub fn save(&self, update: u64, state: &Tensors) -> Result<()> {
        self.save_marked(update, state, None)
    }

    /// As [`save`](Self::save), with a text under a key.
    pub(crate) fn save_marked(&self, update: u64, state: &Tensors, text: Option<(&str, &str)>) -> Result<()> {
        if self.has(update) {
            return Ok(());
        }
        self.begin(update)?;
        let bytes = tensors::to_bytes(state, text)?;
        halite_disk::write_on(&self.disk, &self.folder(update).join(STATE), &bytes)?;
        self.commit(update, BTreeMap::from([(STATE.to_owned(), FileSum::of(&bytes))]))
    }

    /// Makes an empty folder for a checkpoint. An incomplete checkpoint of the same update is removed.
    pub(crate) fn begin(&self, update: u64) -> Result<()> {
        let folder = self.folder(update);
        self.remove(&folder)?;
        self.disk.make_folder(&folder).map_err(unchanged("make the folder", &folder))
    }

    /// Makes these files a checkpoint, which are in its folder and on the device.
    pub(crate) fn commit(&self, update: u64, files: BTreeMap<String, FileSum>) -> Result<()> {
        Manifest::new(update, files).write(&self.disk, &self.folder(update))?;
        // Also their own names, where the folders are new.
        for folder in [Some(&*self.folder), self.folder.parent()].into_iter().flatten() {
            self.disk.sync_folder(folder).map_err(unchanged("sync", folder))?;
        }
        Ok(())
    }

    /// Removes what is older than the newest whole checkpoint, but for the last `keep` whole ones, that one included, and those of
    /// every `keep_every`-th update; 0 is none of these. What is not whole goes too. Without a whole one, nothing does.
    ///
    /// # Errors
    /// When something cannot be removed.
    pub fn prune(&self, keep: usize, keep_every: u64) -> Result<()> {
        let updates = self.updates();
        let whole: Vec<u64> = updates.iter().copied().filter(|&update| self.has(update)).collect();
        let Some(&newest) = whole.last() else { return Ok(()) };
        let kept = &whole[whole.len().saturating_sub(keep.max(1))..];
        let stays =
            |update: u64| kept.contains(&update) || (whole.contains(&update) && super::due::is_due(update, keep_every));
        let old = updates.into_iter().filter(|&update| update < newest && !stays(update));
        old.map(|update| self.folder(update)).try_for_each(|folder| self.remove(&folder))
    }

    /// Lets the checkpoint of an update be the newest one, and a text go with its state in the place of that in its file.
    ///
    /// # Errors
    /// When a later one cannot be removed, or the text not be written.
    pub(crate) fn go_back(&self, update: u64, text: String) -> Result<()> {
        let later = self.updates().into_iter().filter(|&other| other > update);
        later.map(|other| self.folder(other)).try_for_each(|folder| self.remove(&folder))?;
        let folder = self.folder(update);
        Manifest::read(&folder, update)?.with_text(text).write(&self.disk, &folder)
    }

    /// Removes the folder of a checkpoint, which is none from the first call on.
    fn remove(&self, folder: &Path) -> Result<()> {
        if !folder.exists() {
            return Ok(());
        }
        let manifest = folder.join(NAME);
        self.disk.remove(&manifest).map_err(unchanged("remove", &manifest))?;
        self.disk.remove_folder(folder).map_err(unchanged("remove", folder))
    }
}

impl Checkpoint {
    /// The checkpoint in a folder, of which every byte is read.
    ///
    /// # Errors
    /// When it is not whole, with what is wrong.
    pub fn open(folder: &Path) -> Result<Self> {
        let update = update_of(folder).ok_or_else(|| {
            let message = format!("`{}` is not called by the number of an update", folder.display());
            Diagnostic::error(codes::CHECKPOINT, message)
        })?;
        let manifest = Manifest::read(folder, update)?;
        manifest.check(folder)?;
        let whole = folder.join(STATE);
        let state = if manifest.files.contains_key(STATE) { whole } else { parts::index_path(&whole) };
        Ok(Self { update, state })
    }

    /// The file with the state that a path leads to: itself, or that of a checkpoint, or of the newest whole one of a run.
    ///
    /// # Errors
    /// When a folder holds none.
    pub fn state_at(path: &Path) -> Result<(PathBuf, Vec<Diagnostic>)> {
        if !path.is_dir() {
            return Ok((path.to_path_buf(), Vec::new()));
        }
        if path.join(NAME).exists() {
            return Ok((Self::open(path)?.state, Vec::new()));
        }
        let Newest { checkpoint, passed_over } = Checkpoints::new(path).newest();
        match checkpoint {
            Some(checkpoint) => Ok((checkpoint.state, passed_over)),
            None => {
                let message = format!("`{}` is neither a checkpoint nor the folder of a run with one", path.display());
                let error = Diagnostic::error(codes::CHECKPOINT, message);
                Err(passed_over.iter().fold(error, |error, broken| error.note(broken.message())))
            }
        }
    }
}

/// The text that replaces the one in the file of a state, from the manifest of its checkpoint. `None` where the state is in no
/// checkpoint, or its text is as it was saved.
///
/// # Errors
/// When the checkpoint is not whole.
pub(crate) fn text_of(state: &Path) -> Result<Option<String>> {
    let Some((folder, update)) = state.parent().and_then(|folder| Some((folder, update_of(folder)?))) else {
        return Ok(None);
    };
    Ok(Manifest::read(folder, update)?.text)
}

/// The update in the name of a folder.
fn update_of(folder: &Path) -> Option<u64> {
    let name = folder.file_name()?.to_str()?;
    let is_number = name.len() >= DIGITS && name.bytes().all(|byte| byte.is_ascii_digit());
    let update = if is_number { name.parse().ok() } else { None };
    update.filter(|update| format!("{update:0DIGITS$}") == name)
}
