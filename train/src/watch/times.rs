//! Times of updates.

use crate::amount::Amount;
use halite_support::{Diagnostic, Result, codes};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The times of one update in seconds, with those of all since the previous one.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct TimeRecord {
    /// Its number, from 1.
    pub step: u64,
    /// The data that the update took.
    #[serde(flatten)]
    pub seen: Amount,
    /// Waiting for its batch.
    #[serde(rename = "data_seconds")]
    pub data: f64,
    /// The update itself, from a batch on the host to its metrics on the host.
    #[serde(rename = "step_seconds")]
    pub compute: f64,
    /// Evaluations since the update before.
    #[serde(rename = "evaluation_seconds")]
    pub evaluation: f64,
    /// Writing state, metrics and pages since the update before.
    #[serde(rename = "writing_seconds")]
    pub writing: f64,
    /// The model FLOPs utilization (MFU): the operations of the matrix products that the model asks for over those that all ranks could
    /// have done in the time of the update and of waiting for its batch. What is computed again does not count. `None` where the peak
    /// rate is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mfu: Option<f64>,
}

impl TimeRecord {
    /// Tokens or examples in a second of the update and of waiting for its batch.
    pub fn rate(&self) -> f64 {
        self.seen.number() as f64 / (self.data + self.compute)
    }
}

/// The times of the updates of a run, in order. Equal runs do not have equal times, so they are apart from the
/// [`History`](crate::History).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Times(Vec<TimeRecord>);

impl Times {
    /// Reads JSON lines back, `path` being where they come from, up to an update. A last line that is cut off is left out.
    ///
    /// # Errors
    /// When a line is no such record.
    pub fn parse(text: &str, path: &Path, step: u64) -> Result<Self> {
        let read = |(number, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|error| {
                let message = format!("line {} of `{}` is no time of an update: {error}", number + 1, path.display());
                Diagnostic::error(codes::FILE, message).help("choose another folder with `-o`")
            })
        };
        let ended = text.rfind('\n').map_or(0, |end| end + 1);
        let records = text[..ended].lines().enumerate().map(read).collect::<Result<Vec<TimeRecord>>>()?;
        let mut times = Self(records);
        times.truncate(step);
        Ok(times)
    }

    /// As JSON lines.
    ///
    /// # Errors
    /// None that finite numbers give.
    pub fn to_json_lines(&self) -> Result<String> {
        self.lines_from(0)
    }

    /// The same without the first records.
    pub(crate) fn lines_from(&self, first: usize) -> Result<String> {
        let line = |record| serde_json::to_string(record).map(|line| line + "\n");
        let lines = self.0.iter().skip(first).map(line).collect::<serde_json::Result<_>>();
        lines.map_err(|error| Diagnostic::bug(error.to_string()))
    }

    /// The records in order.
    pub fn records(&self) -> &[TimeRecord] {
        &self.0
    }

    /// Drops the records after an update.
    pub(super) fn truncate(&mut self, step: u64) {
        self.0.retain(|record| record.step <= step);
    }

    /// Adds the next one.
    pub(crate) fn push(&mut self, record: TimeRecord) {
        self.0.push(record);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_back_up_to_an_update() {
        let record = |step| TimeRecord {
            step,
            seen: Amount::Tokens(64),
            data: 0.1,
            compute: 0.3,
            evaluation: 0.0,
            writing: 1.0 / 3.0,
            mfu: None,
        };
        let mut times = Times::default();
        (1..=3).for_each(|step| times.push(record(step)));
        let text = times.to_json_lines().unwrap();
        assert!(text.starts_with("{\"step\":1,\"tokens\":64,\"data_seconds\":0.1,"), "{text}");
        assert_eq!(Times::parse(&text, Path::new("t"), 3).unwrap(), times);
        assert_eq!(Times::parse(&text, Path::new("t"), 2).unwrap().records(), &[record(1), record(2)]);
        assert_eq!(record(1).rate(), 160.0);
        let error = Times::parse("{}\n", Path::new("t"), 3).unwrap_err();
        assert!(error.message().starts_with("line 1 of `t` is no time of an update: "), "{error}");
    }
}
