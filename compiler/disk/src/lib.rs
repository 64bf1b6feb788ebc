//! The calls that read and change files, in one place.
//!
//! Whatever Halite writes, and the data that it trains on, goes through a [`Disk`], so that a test can let any call fail, or let
//! nothing happen from some call on, as when the process is killed or the power is lost. What is not whole yet is an [`Unfinished`]
//! file or a [`Scratch`] folder.

mod files;
mod held;
mod link;
mod lock;
mod own;
mod readable;
pub mod testing;
mod unfinished;

pub use files::{make_folder_of, unfinished, write, write_on};
pub use held::Held;
pub use link::link_on;
pub use lock::{Lock, Locking};
pub use own::Own;
pub use readable::Readable;
pub use unfinished::{Scratch, Unfinished};

use halite_support::files::{end_of_links, folder_of};
use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The operation of a call to the system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Operation {
    /// Opens a file to be read.
    Open,
    /// Reads from a file.
    Read,
    /// Makes a folder, and those above it where they are missing.
    MakeFolder,
    /// Makes a file.
    Create,
    /// Writes to a file.
    Write,
    /// Waits until the content of a file is on the device.
    Sync,
    /// Waits until the names in a folder are on the device.
    SyncFolder,
    /// Gives a file a second name.
    Link,
    /// Gives a file or folder another name.
    Rename,
    /// Lets two files or folders take each other's name.
    Exchange,
    /// Removes a file.
    Remove,
    /// Removes a folder with all that is in it.
    RemoveFolder,
}

/// The outcome of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Fate {
    /// It does what it should.
    Done,
    /// It fails, half done where it can be. Later calls have fates of their own.
    Fails(ErrorKind),
    /// As if the power was lost: it fails, half done where it can be; files lose what was not synced; and no later call
    /// does anything.
    Killed,
}

/// The way to the files of the system; in tests, one that fails.
#[derive(Clone, Default)]
pub struct Disk {
    /// The plan of a test; `None` outside tests.
    plan: Option<Arc<Plan>>,
}

/// Fates of calls, and what they have done so far.
struct Plan {
    decide: Box<dyn Fn(usize, Operation) -> Fate + Send + Sync>,
    calls: AtomicUsize,
    is_dead: AtomicBool,
    unsynced: Mutex<Vec<(PathBuf, File)>>,
}

impl fmt::Debug for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Disk").field("calls", &self.calls()).finish_non_exhaustive()
    }
}

impl PartialEq for Disk {
    /// Whether calls to one count as calls to the other.
    fn eq(&self, other: &Self) -> bool {
        match (&self.plan, &other.plan) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

impl Eq for Disk {}

impl Disk {
    /// A disk for tests, where the fate of each call follows from its number, counted from 0, and from what it does.
    pub fn planned(decide: impl Fn(usize, Operation) -> Fate + Send + Sync + 'static) -> Self {
        let (calls, is_dead, unsynced) = (AtomicUsize::new(0), AtomicBool::new(false), Mutex::default());
        Self { plan: Some(Arc::new(Plan { decide: Box::new(decide), calls, is_dead, unsynced })) }
    }

    /// The number of calls so far, on a disk for tests.
    pub fn calls(&self) -> usize {
        self.plan.as_ref().map_or(0, |plan| plan.calls.load(Ordering::Relaxed))
    }

    /// Does what a call does, or half of it, as is its fate.
    fn call<T>(
        &self,
        operation: Operation,
        act: impl FnOnce() -> io::Result<T>,
        half: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<T> {
        let Some(plan) = &self.plan else { return act() };
        let number = plan.calls.fetch_add(1, Ordering::Relaxed);
        if plan.is_dead.load(Ordering::Relaxed) {
            return Err(ErrorKind::Interrupted.into());
        }
        match (plan.decide)(number, operation) {
            Fate::Done => act(),
            Fate::Fails(kind) => {
                half()?;
                Err(kind.into())
            }
            Fate::Killed => {
                half()?;
                plan.is_dead.store(true, Ordering::Relaxed);
                plan.unsynced().drain(..).try_for_each(|(_, file)| file.set_len(0))?;
                Err(ErrorKind::Interrupted.into())
            }
        }
    }

    /// Makes a folder and those above it, where they are missing; all or none of them.
    ///
    /// # Errors
    /// Those of the system, here and below.
    pub fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.make_folder_where(path, || Ok(()))
    }

    /// Makes the folder that something of this path is to be in, and gives it. It is not made where nothing can have that name.
    ///
    /// # Errors
    /// Those of the system.
    pub fn make_folder_of(&self, path: &Path) -> io::Result<PathBuf> {
        let folder = folder_of(path);
        let can_be = || match path.symlink_metadata() {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
        self.make_folder_where(&folder, can_be)?;
        Ok(folder)
    }

    /// Makes a folder and those above it, and removes them again where what is asked then does not hold.
    fn make_folder_where(&self, path: &Path, holds: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        let missing = path.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        let missing: Vec<&Path> = missing.collect();
        let make = || {
            std::fs::create_dir_all(path).and_then(|()| holds()).inspect_err(|_| {
                // Those that are not there, or in which somebody else put something, are left alone.
                missing.iter().for_each(|folder| _ = std::fs::remove_dir(folder));
            })
        };
        self.call(Operation::MakeFolder, make, || Ok(()))
    }

    /// Makes what `make` gives: a file that is open, and its path.
    ///
    /// # Errors
    /// Those of `make`.
    fn create(&self, make: impl FnOnce() -> io::Result<(File, PathBuf)>) -> io::Result<(File, PathBuf)> {
        let (file, path) = self.call(Operation::Create, make, || Ok(()))?;
        if let Some(plan) = &self.plan {
            let mut unsynced = plan.unsynced();
            // Another thread may have been killed since: what is open then is held by nobody.
            if plan.is_dead.load(Ordering::Relaxed) {
                return Err(ErrorKind::Interrupted.into());
            }
            unsynced.push((path.clone(), file.try_clone()?));
        }
        Ok((file, path))
    }

    /// Writes a file that is not there yet, and waits until it is on the device.
    ///
    /// # Errors
    /// When there is one, and those of the system.
    pub fn write_new(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let open = || Ok((File::create_new(path)?, path.to_path_buf()));
        let (file, path) = self.create(open)?;
        self.write(&file, bytes)?;
        self.sync(&file, &path)
    }

    /// Adds to the end of a file, which is made where there is none, and waits until it is on the device.
    ///
    /// # Errors
    /// Those of the system; part of the bytes may be there then.
    pub fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let open = || File::options().append(true).create(true).open(path);
        let file = if path.is_file() { open()? } else { self.create(|| Ok((open()?, path.to_path_buf())))?.0 };
        self.write(&file, bytes)?;
        self.sync(&file, path)
    }

    /// Writes to a device, a pipe or the like, which stays what it is.
    ///
    /// # Errors
    /// Those of the system.
    pub fn write_through(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.write(&File::options().write(true).truncate(true).open(path)?, bytes)
    }

    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<()> {
        let add = |bytes: &[u8]| {
            let mut file = file;
            file.write_all(bytes)
        };
        self.call(Operation::Write, || add(bytes), || add(&bytes[..bytes.len() / 2]))
    }

    fn sync(&self, file: &File, path: &Path) -> io::Result<()> {
        // A test needs no device, only to know of the call.
        self.call(Operation::Sync, || if self.plan.is_none() { file.sync_all() } else { Ok(()) }, || Ok(()))?;
        if let Some(plan) = &self.plan {
            plan.unsynced().retain(|(unsynced, _)| unsynced != path);
        }
        Ok(())
    }

    /// Waits until the names in a folder are on the device. Where a file system has no such thing, there is nothing to wait
    /// for.
    ///
    /// # Errors
    /// Those of the system.
    pub fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let sync = || match File::open(path)? {
            folder if self.plan.is_none() => match folder.sync_all() {
                Err(error) if is_unsupported(&error) => Ok(()),
                result => result,
            },
            _ => Ok(()),
        };
        self.call(Operation::SyncFolder, sync, || Ok(()))
    }

    /// Gives a file or folder another name, in place of a file or an empty folder that has it.
    ///
    /// # Errors
    /// Those of the system.
    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(Operation::Rename, || std::fs::rename(from, to), || Ok(()))
    }

    /// Lets two files or folders take each other's name in one call; `false` where system or file system has no such call.
    ///
    /// # Errors
    /// Those of the system.
    pub fn exchange(&self, one: &Path, other: &Path) -> io::Result<bool> {
        match self.call(Operation::Exchange, || exchange(one, other), || Ok(())) {
            Ok(()) => Ok(true),
            Err(error) if is_unsupported(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes a file, if there is one.
    ///
    /// # Errors
    /// Those of the system.
    pub fn remove(&self, path: &Path) -> io::Result<()> {
        self.call(Operation::Remove, || if_there(std::fs::remove_file(path)), || Ok(()))
    }

    /// Removes a folder with all that is in it, if there is one.
    ///
    /// # Errors
    /// Those of the system; some of it may be gone then.
    pub fn remove_folder(&self, path: &Path) -> io::Result<()> {
        let half = || files_in(path).into_iter().step_by(2).try_for_each(std::fs::remove_file);
        self.call(Operation::RemoveFolder, || if_there(std::fs::remove_dir_all(path)), half)
    }
}

impl Plan {
    fn unsynced(&self) -> std::sync::MutexGuard<'_, Vec<(PathBuf, File)>> {
        self.unsynced.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The destination of writes to a path.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Destination {
    /// To a regular file, which is there or not, at the end of the links that the path may be.
    File(PathBuf),
    /// To a device, a pipe or the like.
    Stream,
}

impl Destination {
    /// The destination of writes to this path.
    ///
    /// # Errors
    /// When a folder has that name, links go in a circle, or the system does not tell.
    pub fn of(path: &Path) -> io::Result<Self> {
        match std::fs::metadata(path) {
            Ok(meta) if meta.is_dir() => Err(ErrorKind::IsADirectory.into()),
            // What is open under `/proc` may have no name any more.
            Ok(meta) if meta.is_file() && path.is_symlink() => Ok(path.canonicalize().map_or(Self::Stream, Self::File)),
            Ok(meta) if meta.is_file() => Ok(Self::File(path.to_path_buf())),
            Ok(_) => Ok(Self::Stream),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::File(end_of_links(path)?)),
            Err(error) => Err(error),
        }
    }
}

/// Lets two files or folders take each other's name.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput)
}

/// Counts what is not there as removed.
fn if_there(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// The files right in a folder, by name.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}
