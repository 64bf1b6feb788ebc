//! A lock on an open file that is released when its holder is done.

use std::fs::{File, TryLockError};

/// An open file that is locked. The lock ends when this is dropped, and not only when nothing has the file open any more: a process that
/// another thread starts has it, for the moment until it runs a program of its own.
#[derive(Debug)]
pub struct Held(pub(crate) File);

impl Held {
    /// Of a file that was locked through this handle.
    pub fn of(locked: File) -> Self {
        Self(locked)
    }

    /// Whether another open file holds the lock of this one. Files that cannot be locked are not held.
    pub fn elsewhere(file: File) -> bool {
        match file.try_lock_shared() {
            Ok(()) => {
                drop(Self(file));
                false
            }
            Err(error) => matches!(error, TryLockError::WouldBlock),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // The system ends the lock anyway, if later.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_where_a_process_that_is_just_starting_has_the_file_too() {
        let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let open = || File::options().append(true).open(&path).unwrap();
        let file = open();
        file.try_lock().unwrap();
        // What is left of a process that is started: the same open file.
        let _started = file.try_clone().unwrap();
        open().try_lock().unwrap_err();
        assert!(Held::elsewhere(open()));
        drop(Held::of(file));
        assert!(!Held::elsewhere(open()));
        open().try_lock().unwrap();
    }
}
