//! Files that are read.

use crate::{Disk, Operation};
use halite_support::files::require_file;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// A file that is open to be read. Clones share it, and each goes on from a place of its own.
#[derive(Clone, Debug)]
pub struct Readable {
    file: Arc<File>,
    disk: Disk,
    place: u64,
}

impl Disk {
    /// Opens a file to be read, from its begin on.
    ///
    /// # Errors
    /// Those of the system, here and below; when it is a pipe, a device or a folder.
    pub fn open(&self, path: &Path) -> io::Result<Readable> {
        require_file(path)?;
        let file = self.call(Operation::Open, || File::open(path), || Ok(()))?;
        Ok(Readable { file: Arc::new(file), disk: self.clone(), place: 0 })
    }
}

impl Readable {
    /// The same file, from this byte on.
    #[must_use]
    pub fn at(self, place: u64) -> Self {
        Self { place, ..self }
    }

    /// The number of its bytes.
    ///
    /// # Errors
    /// Those of the system.
    pub fn size(&self) -> io::Result<u64> {
        self.by_call(|file| Ok(file.metadata()?.len()))
    }

    /// Reads all these bytes from a place on.
    ///
    /// # Errors
    /// When the file ends before, and those of the system.
    pub fn read_exact_at(&self, bytes: &mut [u8], place: u64) -> io::Result<()> {
        self.by_call(|file| file.read_exact_at(bytes, place))
    }

    fn by_call<T>(&self, act: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        self.disk.call(Operation::Read, || act(&self.file), || Ok(()))
    }
}

impl Read for Readable {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.by_call(|file| file.read_at(bytes, self.place))?;
        self.place += read as u64;
        Ok(read)
    }
}
