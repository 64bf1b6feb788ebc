//! Writing checkpoints beside the updates of a run.

use super::folder::{Checkpoints, STATE};
use halite_bundle::parts;
use halite_bundle::tensors::Tensors;
use halite_disk::Disk;
use halite_recipe::CheckpointOptions;
use halite_support::files::{cannot, read};
use halite_support::{Diagnostic, Result};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

/// A checkpoint to write: all that the writer thread needs.
pub(crate) struct Save {
    pub(crate) run: PathBuf,
    pub(crate) disk: Disk,
    pub(crate) options: CheckpointOptions,
    pub(crate) update: u64,
    pub(crate) state: Tensors,
    /// A text that goes with the state, after its key.
    pub(crate) text: (&'static str, String),
}

impl Save {
    /// Writes the checkpoint, links or copies its state into the folder of the run, then removes old checkpoints.
    pub(crate) fn write(self) -> Result<()> {
        let Self { run, disk, options, update, state, text: (key, text) } = self;
        let checkpoints = Checkpoints::on(&run, disk.clone());
        checkpoints.save_marked(update, &state, Some((key, &text)))?;
        let place = run.join(STATE);
        put(&disk, &checkpoints.folder(update).join(STATE), &place)?;
        parts::remove(&disk, &place)?;
        checkpoints.prune(options.keep as usize, options.keep_every)
    }
}

/// Errors of a file system that has no hard links.
const HAS_NONE: [ErrorKind; 4] =
    [ErrorKind::Unsupported, ErrorKind::PermissionDenied, ErrorKind::CrossesDevices, ErrorKind::TooManyLinks];

/// Puts a file of a checkpoint into the folder of the run: as a hard link or, where the file system has none, as a copy.
///
/// # Errors
/// When neither works.
pub(crate) fn put(disk: &Disk, file: &Path, place: &Path) -> Result<()> {
    match halite_disk::link_on(disk, file, place) {
        Ok(()) => Ok(()),
        Err(error) if HAS_NONE.contains(&error.kind()) => halite_disk::write_on(disk, place, &read(file)?),
        Err(error) => Err(cannot("write", place, &error)),
    }
}

/// Writes checkpoints in a thread, one at a time.
#[derive(Debug, Default)]
pub(crate) struct Background {
    under_way: Option<(u64, JoinHandle<Result<()>>)>,
}

impl Background {
    /// Begins to write a checkpoint, once the previous one is written.
    ///
    /// # Errors
    /// When there can be no thread.
    pub(crate) fn begin(&mut self, save: Save) -> std::io::Result<()> {
        debug_assert!(self.under_way.is_none(), "the one before is waited for");
        let update = save.update;
        let thread = std::thread::Builder::new().name("checkpoint".to_owned()).spawn(move || save.write())?;
        self.under_way = Some((update, thread));
        Ok(())
    }

    /// The update and the outcome of the checkpoint whose writing has ended, if there is one.
    pub(crate) fn ended(&mut self) -> Option<(u64, Result<()>)> {
        let is_ended = self.under_way.as_ref().is_some_and(|(_, thread)| thread.is_finished());
        if is_ended { self.wait() } else { None }
    }

    /// Waits for the checkpoint that is being written, if there is one. Returns its update and outcome.
    pub(crate) fn wait(&mut self) -> Option<(u64, Result<()>)> {
        let (update, thread) = self.under_way.take()?;
        Some((update, thread.join().unwrap_or_else(|_| Err(Diagnostic::bug("writing a checkpoint panicked")))))
    }
}

impl Drop for Background {
    /// No thread outlives its run.
    fn drop(&mut self) {
        self.wait();
    }
}
