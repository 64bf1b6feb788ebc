//! Files and folders that are not whole yet, and the removal of those that killed processes left.

use super::Disk;
use halite_support::files::{UNFINISHED, folder_of};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::Builder;

/// The suffix of these names.
const ENDING: &str = ".part";

/// The number of random letters and digits between prefix and suffix.
const RANDOM: usize = 6;

/// A file that does not have its name yet. Dropped without it, it is gone; killed without it, it is removed when next
/// something is written to the folder.
#[derive(Debug)]
pub struct Unfinished {
    disk: Disk,
    file: File,
    path: PathBuf,
    place: PathBuf,
    is_synced: bool,
    is_finished: bool,
}

impl Unfinished {
    /// An empty file that is to become the one at `place`. Missing folders are made.
    ///
    /// # Errors
    /// Those of the system, here and below.
    pub fn new(disk: &Disk, place: &Path) -> io::Result<Self> {
        let folder = disk.make_folder_of(place)?;
        remove_leftovers(disk, &folder);
        let make = || Ok(builder().permissions(permissions()).tempfile_in(&folder)?.keep()?);
        let (file, path) = claimed(|| disk.create(make))?;
        Ok(Self { disk: disk.clone(), file, path, place: place.to_path_buf(), is_synced: false, is_finished: false })
    }

    /// The name that it is to get, with its folder.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Adds to it.
    ///
    /// # Errors
    /// Those of the system.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.is_synced = false;
        self.disk.write(&self.file, bytes)
    }

    /// Waits until its content is on the device.
    ///
    /// # Errors
    /// Those of the system.
    pub fn sync(&mut self) -> io::Result<()> {
        if !self.is_synced {
            self.disk.sync(&self.file, &self.path)?;
        }
        self.is_synced = true;
        Ok(())
    }

    /// Gives it its name, in place of the file that has it. The name is on the device once the folder is synced.
    ///
    /// # Errors
    /// Those of the system.
    pub fn rename(mut self) -> io::Result<()> {
        self.disk.rename(&self.path, &self.place)?;
        self.is_finished = true;
        Ok(())
    }

    /// Puts it in its place for good: [`sync`](Self::sync), [`rename`](Self::rename), and a sync of the folder.
    ///
    /// # Errors
    /// Those of the system.
    pub fn finish(mut self) -> io::Result<()> {
        self.sync()?;
        let (disk, folder) = (self.disk.clone(), folder_of(&self.place));
        self.rename()?;
        disk.sync_folder(&folder)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.is_finished {
            // What stays is found when next something is written here.
            let _ = self.disk.remove(&self.path);
        }
    }
}

/// A folder for what is being made, beside its later place. Dropped, it is gone with all that is in it; killed, it is
/// removed when next something is written there.
#[derive(Debug)]
pub struct Scratch {
    disk: Disk,
    path: PathBuf,
    /// Held as long as somebody works in the folder.
    _lock: File,
}

impl Scratch {
    /// A folder in `parent`, which is made where it is missing.
    ///
    /// # Errors
    /// Those of the system.
    pub fn new(disk: &Disk, parent: &Path) -> io::Result<Self> {
        disk.make_folder(parent)?;
        remove_leftovers(disk, parent);
        let make = || {
            let path = builder().tempdir_in(parent)?.keep();
            Ok((File::open(&path)?, path))
        };
        let (lock, path) = claimed(|| disk.call(super::Operation::Create, make, || Ok(())))?;
        Ok(Self { disk: disk.clone(), path, _lock: lock })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // As above.
        let _ = self.disk.remove_folder(&self.path);
    }
}

pub(crate) fn builder() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(UNFINISHED).suffix(ENDING).rand_bytes(RANDOM);
    builder
}

/// The permissions of a file that the user makes, before the mask of the process is applied.
fn permissions() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}

/// Makes something that is locked, so that nobody takes it for a leftover.
fn claimed(make: impl Fn() -> io::Result<(File, PathBuf)>) -> io::Result<(File, PathBuf)> {
    loop {
        let (file, path) = make()?;
        let is_taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        // Somebody who looks for leftovers may have come between.
        if !is_taken && path.exists() {
            return Ok((file, path));
        }
    }
}

/// Removes what killed processes left in a folder. What cannot be removed is in nobody's way.
fn remove_leftovers(disk: &Disk, folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_str().is_some_and(is_unfinished)) {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        if !(kind.is_dir() || kind.is_file()) {
            continue;
        }
        // Whoever works on it holds its lock, which ends with the process.
        let Ok(file) = File::open(&path) else { continue };
        if file.try_lock().is_ok() {
            let _ = if kind.is_dir() { disk.remove_folder(&path) } else { disk.remove(&path) };
        }
    }
}

/// Whether a name is one that is given here.
fn is_unfinished(name: &str) -> bool {
    let middle = name.strip_prefix(UNFINISHED).and_then(|name| name.strip_suffix(ENDING));
    middle.is_some_and(|middle| middle.len() == RANDOM && middle.chars().all(|c| c.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn leftovers_are_removed_and_what_is_worked_on_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path(".halite-aB3dE6.part")).unwrap();
        std::fs::write(path(".halite-aB3dE6.part/x"), "").unwrap();
        for name in [".halite-aB3dE7.part", ".halite-notes", ".halite-mine.part"] {
            std::fs::write(path(name), "").unwrap();
        }
        let disk = Disk::default();
        let file = Unfinished::new(&disk, &path("a")).unwrap();
        let scratch = Scratch::new(&disk, folder.path()).unwrap();
        assert_eq!(names(folder.path()).len(), 4, "{:?}", names(folder.path()));
        assert!(scratch.path().is_dir());
        file.finish().unwrap();
        drop(scratch);
        assert_eq!(names(folder.path()), [".halite-mine.part", ".halite-notes", "a"]);
    }
}
