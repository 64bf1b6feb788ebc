//! Event files, which TensorBoard reads.

mod event;
mod frame;

use super::TimeRecord;
use crate::{EvalRecord, Observer, StepRecord};
use event::{Event, Scalar, SessionLog, Summary};
use halite_disk::Disk;
use halite_support::Result;
use halite_support::files::cannot;
use prost::Message;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Writes the metrics of a run to an event file in a folder: those of an update as `train/NAME`, its times as `time/NAME`, and the
/// held-out loss as `eval/held_out_loss`, or of named data as `eval/DATA/held_out_loss`, each with the number of the update and the
/// time of day.
///
/// A run that is resumed begins a file of its own, which says after which update: TensorBoard then leaves out what older files have
/// beyond it.
#[derive(Debug)]
pub struct TensorBoard {
    folder: PathBuf,
    disk: Disk,
    /// Updates between points.
    every: u64,
    file: Option<PathBuf>,
    /// Events that are not in the file yet.
    pending: Vec<u8>,
}

impl TensorBoard {
    /// In this folder, with a point for each so many updates.
    pub fn new(folder: impl Into<PathBuf>, every: u64) -> Self {
        Self { folder: folder.into(), disk: Disk::default(), every, file: None, pending: Vec::new() }
    }

    /// The same on another disk.
    pub(crate) fn on(self, disk: Disk) -> Self {
        Self { disk, ..self }
    }

    fn add(&mut self, event: &Event) {
        frame::add(&mut self.pending, &event.encode_to_vec());
    }

    fn add_scalars(&mut self, step: u64, scalars: impl Iterator<Item = (String, f64)>) {
        let value = |(tag, value)| Scalar { tag, simple_value: Some(value as f32) };
        let summary = Summary { value: scalars.map(value).collect() };
        self.add(&Event { summary: Some(summary), ..Event::at(step, now()) });
    }
}

impl Observer for TensorBoard {
    fn started(&mut self, step: u64) {
        (self.file, self.pending) = (None, Vec::new());
        self.add(&Event { file_version: Some(event::FILE_VERSION.to_owned()), ..Event::at(0, now()) });
        let session_log = Some(SessionLog { status: event::START });
        self.add(&Event { session_log, ..Event::at(step + 1, now()) });
    }

    fn stepped(&mut self, record: &StepRecord) {
        if record.step.is_multiple_of(self.every) {
            let metrics = record.metrics.iter().map(|(name, value)| (format!("train/{name}"), *value));
            let seen = (format!("train/{}", record.seen.unit()), record.seen.number() as f64);
            self.add_scalars(record.step, metrics.chain([seen]));
        }
    }

    fn evaluated(&mut self, record: &EvalRecord) {
        let name = if record.data.is_empty() { String::new() } else { format!("{}/", record.data) };
        let loss = std::iter::once(("loss", record.held_out_loss));
        let all = loss.chain(record.metrics.iter().map(|(metric, value)| (metric.as_str(), *value)));
        self.add_scalars(record.step, all.map(|(metric, value)| (format!("eval/{name}held_out_{metric}"), value)));
    }

    fn timed(&mut self, record: &TimeRecord) {
        if record.step.is_multiple_of(self.every) {
            let TimeRecord { data, compute, evaluation, writing, .. } = *record;
            let seconds = [("data", data), ("step", compute), ("evaluation", evaluation), ("writing", writing)];
            let seconds = seconds.map(|(name, seconds)| (format!("time/{name}_seconds"), seconds));
            let rate = (format!("time/{}_per_second", record.seen.unit()), record.rate());
            let mfu = record.mfu.map(|mfu| ("time/mfu".to_owned(), mfu));
            self.add_scalars(record.step, seconds.into_iter().chain([rate]).chain(mfu));
        }
    }

    fn written(&mut self) -> Result<()> {
        let fault = |error: std::io::Error| cannot("write", &self.folder, &error);
        self.disk.make_folder(&self.folder).map_err(fault)?;
        let path = self.file.get_or_insert_with(|| new_file(&self.folder));
        self.disk.append(path, &self.pending).map_err(fault)?;
        self.pending.clear();
        Ok(())
    }
}

/// A name that no file has and that comes after those of all files, in the order in which TensorBoard reads them.
fn new_file(folder: &Path) -> PathBuf {
    let seconds = now() as u64;
    let mut names = (0..).map(|number| folder.join(format!("events.out.tfevents.{seconds:010}.{number:03}.halite")));
    names.find(|path| !path.exists()).unwrap_or_default()
}

/// Seconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amount::{Amount, HeldOutCount};

    /// CRC-32C, bit by bit: the polynomial 0x1EDC6F41, reflected.
    fn crc32c(bytes: &[u8]) -> u32 {
        let bit = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
        !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| bit(crc)))
    }

    /// Cuts a file into the events of its frames, each of which must be whole.
    fn events(mut bytes: &[u8]) -> Vec<Event> {
        fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
            let (head, rest) = bytes.split_at(N);
            *bytes = rest;
            head.try_into().unwrap()
        }
        let masked = |bytes: &[u8]| crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8);
        let mut events = Vec::new();
        while !bytes.is_empty() {
            let length: [u8; 8] = take(&mut bytes);
            assert_eq!(u32::from_le_bytes(take(&mut bytes)), masked(&length));
            let (data, rest) = bytes.split_at(u64::from_le_bytes(length) as usize);
            bytes = rest;
            assert_eq!(u32::from_le_bytes(take(&mut bytes)), masked(data));
            events.push(Event::decode(data).unwrap());
        }
        events
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }

    #[test]
    fn frames_hold_what_was_measured() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        let folder = tempfile::tempdir().unwrap();
        let mut board = TensorBoard::new(folder.path(), 2);
        board.started(6);
        for step in 7..=10 {
            let metrics = [("loss".to_owned(), step as f64 / 8.0)].into_iter().collect();
            board.stepped(&StepRecord { step, seen: Amount::Tokens(64 * step), metrics });
            board.timed(&TimeRecord {
                step,
                seen: Amount::Tokens(64),
                data: 0.5,
                compute: 1.5,
                evaluation: 0.0,
                writing: 0.0,
                mfu: Some(0.25),
            });
            board.written().unwrap();
        }
        board.evaluated(&EvalRecord {
            step: 10,
            data: String::new(),
            held_out_loss: 1.25,
            counted: HeldOutCount::Tokens(1),
            metrics: [].into(),
        });
        board.written().unwrap();
        let files = files(folder.path());
        let found = events(&std::fs::read(&files[0]).unwrap());
        assert_eq!((files.len(), found.len()), (1, 7));
        assert_eq!(found[0].file_version.as_deref(), Some("brain.Event:2"));
        assert_eq!((found[1].step, found[1].session_log.as_ref().unwrap().status), (7, 1));
        let scalars = |event: &Event| -> Vec<(String, f32)> {
            let values = event.summary.as_ref().unwrap().value.iter();
            values.map(|scalar| (scalar.tag.clone(), scalar.simple_value.unwrap())).collect()
        };
        assert_eq!(scalars(&found[2]), [("train/loss".to_owned(), 1.0), ("train/tokens".to_owned(), 512.0)]);
        assert_eq!((found[2].step, found[4].step, found[6].step), (8, 10, 10));
        assert_eq!(scalars(&found[3])[4], ("time/tokens_per_second".to_owned(), 32.0));
        assert_eq!(scalars(&found[3])[5], ("time/mfu".to_owned(), 0.25));
        assert_eq!(scalars(&found[6]), [("eval/held_out_loss".to_owned(), 1.25)]);
    }

    #[test]
    fn each_start_begins_a_file_that_comes_after_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let mut seen = Vec::new();
        for start in [0, 5, 3] {
            let mut board = TensorBoard::new(folder.path(), 1);
            board.started(start);
            board.written().unwrap();
            let files = files(folder.path());
            assert_eq!(files[..seen.len()], seen);
            assert_eq!(events(&std::fs::read(files.last().unwrap()).unwrap())[1].step, start as i64 + 1);
            seen = files;
        }
        assert_eq!(seen.len(), 3);
    }
}
