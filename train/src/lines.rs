//! The lines of a run that are on disk.

use super::History;
use super::watch::Times;
use halite_disk::Disk;
use halite_support::Result;
use halite_support::files::cannot;
use std::path::Path;

/// The number of metrics and times that this process has written. It first writes both files whole, without the lines after the state
/// that it resumes from, and then appends new lines: the bytes that a run writes grow with its updates, however often it writes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Written(Option<Counts>);

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    updates: usize,
    evaluations: usize,
    times: usize,
}

impl Written {
    /// Writes the lines that are not there yet. When that fails, lines may be cut off, so that the next call writes the files whole.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub(super) fn bring_up(
        &mut self,
        disk: &Disk,
        (metrics, timing): (&Path, &Path),
        history: &History,
        times: &Times,
    ) -> Result<()> {
        let before = std::mem::take(self).0;
        let from = before.unwrap_or_default();
        let measured = history.lines_from(from.updates, from.evaluations);
        let took = times.lines_from(from.times)?;
        for (path, text) in [(metrics, measured), (timing, took)] {
            match before {
                None => halite_disk::write_on(disk, path, text.as_bytes())?,
                Some(_) if text.is_empty() => {}
                Some(_) => disk.append(path, text.as_bytes()).map_err(|error| cannot("write", path, &error))?,
            }
        }
        let (updates, evaluations) = (history.steps.len(), history.evals.len());
        self.0 = Some(Counts { updates, evaluations, times: times.records().len() });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Amount, RunFiles, StepRecord, TimeRecord};
    use std::os::unix::fs::MetadataExt;

    fn measured(updates: u64) -> (History, Times) {
        let (mut history, mut times) = (History::default(), Times::default());
        for step in 1..=updates {
            let metrics = [("loss".to_owned(), 0.5)].into_iter().collect();
            history.steps.push(StepRecord { step, seen: Amount::Tokens(8), metrics });
            times.push(TimeRecord {
                step,
                seen: Amount::Tokens(8),
                data: 0.0,
                compute: 1.0,
                evaluation: 0.0,
                writing: 0.0,
                mfu: None,
            });
        }
        (history, times)
    }

    #[test]
    fn what_is_new_is_added_and_what_was_dropped_is_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let files = RunFiles::new(folder.path());
        let mut written = Written::default();
        let bring_up = |written: &mut Written, updates| {
            let (history, times) = measured(updates);
            let paths = (&*files.metrics(), &*files.timing());
            written.bring_up(&Disk::default(), paths, &history, &times).unwrap();
            let text = |path| std::fs::read_to_string(path).unwrap();
            assert_eq!(text(files.metrics()), history.to_json_lines());
            assert_eq!(text(files.timing()), times.to_json_lines().unwrap());
            [files.metrics(), files.timing()].map(|path| path.metadata().unwrap().ino())
        };
        let first = bring_up(&mut written, 3);
        // The same file: nothing of it was written again.
        assert!([3, 4, 9].iter().all(|&updates| bring_up(&mut written, updates) == first));
        written = Written::default();
        assert_ne!(bring_up(&mut written, 5), first);
    }
}
