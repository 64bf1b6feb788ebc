//! Events of a run that were not planned.

use super::rollback::Rollback;
use halite_support::{Diagnostic, Result, codes};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Something that happened to a run; a line of `events.jsonl`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Event {
    /// The run had ended early, and was resumed after an update.
    Resume {
        /// The update.
        update: u64,
    },
    /// The device failed, and the run went on after the update of a checkpoint.
    Restart {
        /// The update.
        update: u64,
        /// Restarts that are left before there is a newer checkpoint.
        left: u32,
        /// The messages of the errors.
        errors: Vec<String>,
    },
    /// The run went back before an update that spoiled it.
    Rollback {
        /// The updates that the run went from and to, and the batches that it skipped.
        #[serde(flatten)]
        rollback: Rollback,
        /// The loss of that update; `None` where it is not finite.
        loss: Option<f64>,
        /// The message of the error that the run went back for.
        reason: String,
    },
}

impl Event {
    /// Reads JSON lines back, `path` being where they come from.
    ///
    /// # Errors
    /// When a line is no event.
    pub(super) fn parse(text: &str, path: &Path) -> Result<Vec<Self>> {
        let read = |(number, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|error| {
                let message = format!("line {} of `{}` is no event of a run: {error}", number + 1, path.display());
                Diagnostic::error(codes::FILE, message).help("choose another folder with `-o`")
            })
        };
        text.lines().enumerate().map(read).collect()
    }

    /// As JSON lines.
    ///
    /// # Errors
    /// None that finite numbers give.
    pub(super) fn to_json_lines(events: &[Self]) -> Result<String> {
        let line = |event| serde_json::to_string(event).map(|line| line + "\n");
        events.iter().map(line).collect::<serde_json::Result<_>>().map_err(|error| Diagnostic::bug(error.to_string()))
    }

    /// The update after which the run went on.
    pub fn update(&self) -> u64 {
        match self {
            Self::Resume { update } | Self::Restart { update, .. } => *update,
            Self::Rollback { rollback, .. } => rollback.to,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_read_back() {
        let events = [
            Event::Resume { update: 4 },
            Event::Restart { update: 5, left: 0, errors: vec!["a core hangs".to_owned()] },
            Event::Rollback {
                rollback: Rollback { update: 13, to: 10, batches: [11, 13] },
                loss: None,
                reason: "update 13 is not finite".to_owned(),
            },
        ];
        let text = Event::to_json_lines(&events).unwrap();
        assert!(text.starts_with("{\"event\":\"resume\",\"update\":4}\n"), "{text}");
        assert!(
            text.contains("{\"event\":\"rollback\",\"update\":13,\"to\":10,\"batches\":[11,13],\"loss\":null,"),
            "{text}"
        );
        assert_eq!(Event::parse(&text, Path::new("e")).unwrap(), events);
        assert_eq!(events.each_ref().map(Event::update), [4, 5, 10]);
        let error = Event::parse("{}", Path::new("e")).unwrap_err();
        assert!(error.message().starts_with("line 1 of `e` is no event of a run: "), "{error}");
    }
}
