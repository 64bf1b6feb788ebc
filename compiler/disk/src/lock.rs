//! A lock on a folder that one process works in.

use super::{Disk, Held, Operation};
use rustix::fs::OFlags;
use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Held as long as a process works; the system ends it with the process, however that ends.
#[derive(Debug)]
pub struct Lock(Held);

/// The outcome of taking a lock.
#[derive(Debug)]
pub enum Locking {
    /// It is ours.
    Taken(Lock),
    /// Another holds it, who left this text.
    HeldBy(String),
}

impl Lock {
    /// Takes the lock that a file stands for, which is made with its folder where it is missing, and leaves a text for others in it. It
    /// is advisory, and holds between machines where the file system has such locks.
    ///
    /// # Errors
    /// Those of the system; when the path is a link, or another name of a file.
    pub fn take(disk: &Disk, path: &Path, holder: &str) -> io::Result<Locking> {
        disk.make_folder_of(path)?;
        // What has another name is somebody's else, and would be emptied.
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false).custom_flags(flags);
        let mut file = disk.call(Operation::Create, || options.open(path), || Ok(()))?;
        let meta = file.metadata()?;
        if !meta.is_file() || meta.nlink() > 1 {
            return Err(io::Error::other("it is no file of our own"));
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                file.by_ref().take(4096).read_to_string(&mut holder)?;
                return Ok(Locking::HeldBy(holder));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let held = Held::of(file);
        held.0.set_len(0)?;
        disk.write(&held.0, holder.as_bytes())?;
        Ok(Locking::Taken(Self(held)))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Of who is gone nobody needs to know; the system ends the lock anyway.
        let _ = self.0.0.set_len(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_by_one_and_names_him() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/lock");
        // What a process left that was killed.
        std::fs::create_dir(folder.path().join("run")).unwrap();
        std::fs::write(&path, "a longer text of somebody who is gone").unwrap();
        let disk = Disk::default();
        let Locking::Taken(lock) = Lock::take(&disk, &path, "first").unwrap() else { panic!("it is free") };
        let Locking::HeldBy(holder) = Lock::take(&disk, &path, "second").unwrap() else { panic!("it is taken") };
        assert_eq!(holder, "first");
        for (name, link) in [("soft", true), ("hard", false)] {
            let (victim, link_path) = (folder.path().join("victim"), folder.path().join(name));
            std::fs::write(&victim, "precious").unwrap();
            let made = if link {
                std::os::unix::fs::symlink(&victim, &link_path)
            } else {
                std::fs::hard_link(&victim, &link_path)
            };
            made.unwrap();
            Lock::take(&disk, &link_path, "us").unwrap_err();
            assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
        }
        drop(lock);
        assert_eq!(std::fs::read(&path).unwrap(), b"");
        assert!(matches!(Lock::take(&disk, &path, "second").unwrap(), Locking::Taken(_)));
    }
}
