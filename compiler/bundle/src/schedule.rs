//! The schedule of a bundle: what the ranks of a stage do in an update, one action after another.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// The most pieces of a batch.
const MAX_PIECES: usize = 1 << 20;

/// One thing that the ranks of a stage do in an update. In JSON it is its text: `run train_step 0`, `run grad_step 0..4`,
/// `run update_step`, `send forward_0 3`, `receive scalars_1`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Action {
    /// Calls a module, by name.
    Run {
        /// The module.
        module: String,
        /// The pieces of the batch that it is called for, one call after another; `None` for one call of a module that reads nothing of
        /// the batch.
        pieces: Option<Range<usize>>,
    },
    /// Sends the values of a transfer, by its name, to its other stage.
    Send {
        /// The transfer.
        transfer: String,
        /// The piece of the batch whose values they are; `None` for those that the whole update has once.
        piece: Option<usize>,
    },
    /// Waits for the values of a transfer.
    Receive {
        /// The transfer.
        transfer: String,
        /// As of [`Send`](Self::Send).
        piece: Option<usize>,
    },
}

/// Values that go from one stage to another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    /// Its name, unique in the bundle and without spaces.
    pub name: String,
    /// The stage that makes them.
    pub from: usize,
    /// The stage that reads them.
    pub to: usize,
    /// The values, by name.
    pub values: Vec<String>,
}

/// A text that is no action.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoAction(String);

impl fmt::Display for NoAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no action of a schedule, expected e.g. `run grad_step 0..4`, `run update_step`, `send forward_0 3` or \
             `receive scalars_1`, with pieces below {MAX_PIECES}",
            self.0
        )
    }
}

impl std::error::Error for NoAction {}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, name, first) = match self {
            Self::Run { module, pieces } => ("run", module, pieces.as_ref().map(|pieces| pieces.start)),
            Self::Send { transfer, piece } => ("send", transfer, *piece),
            Self::Receive { transfer, piece } => ("receive", transfer, *piece),
        };
        write!(f, "{word} {name}")?;
        if let Some(first) = first {
            write!(f, " {first}")?;
        }
        match self {
            Self::Run { pieces: Some(pieces), .. } if pieces.len() != 1 => write!(f, "..{}", pieces.end),
            _ => Ok(()),
        }
    }
}

impl FromStr for Action {
    type Err = NoAction;

    fn from_str(text: &str) -> Result<Self, NoAction> {
        // What is written otherwise than it would be printed, such as `0..1` or `+3`, is refused.
        parse(text).filter(|action| action.to_string() == text).ok_or_else(|| NoAction(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Action> {
    let mut words = text.split(' ');
    let (word, name, pieces) = (words.next()?, words.next()?, words.next());
    if words.next().is_some() || !is_word(name) {
        return None;
    }
    let pieces = match pieces {
        None => None,
        Some(pieces) => Some(parse_pieces(pieces)?),
    };
    let name = name.to_owned();
    let piece = pieces.as_ref().map(|pieces| pieces.start);
    match word {
        "run" => Some(Action::Run { module: name, pieces }),
        "send" => Some(Action::Send { transfer: name, piece }),
        "receive" => Some(Action::Receive { transfer: name, piece }),
        _ => None,
    }
}

fn parse_pieces(text: &str) -> Option<Range<usize>> {
    let pieces = match text.split_once("..") {
        Some((start, end)) => start.parse().ok()?..end.parse().ok()?,
        None => {
            let piece: usize = text.parse().ok()?;
            piece..piece.checked_add(1)?
        }
    };
    (!pieces.is_empty() && pieces.end <= MAX_PIECES).then_some(pieces)
}

/// Whether a name can stand in the text of an action: it is not empty and has no space.
pub(crate) fn is_word(name: &str) -> bool {
    !name.is_empty() && !name.contains(char::is_whitespace)
}

impl TryFrom<String> for Action {
    type Error = NoAction;

    fn try_from(text: String) -> Result<Self, NoAction> {
        text.parse()
    }
}

impl From<Action> for String {
    fn from(action: Action) -> Self {
        action.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_reads_back_to_itself() {
        let run = |module: &str, pieces| Action::Run { module: module.into(), pieces };
        let name = || "forward_0".to_owned();
        for (text, action) in [
            ("run train_step 0", run("train_step", Some(0..1))),
            ("run grad_step 0..4", run("grad_step", Some(0..4))),
            ("run grad_step 1048575", run("grad_step", Some(MAX_PIECES - 1..MAX_PIECES))),
            ("run update_step", run("update_step", None)),
            ("send forward_0 3", Action::Send { transfer: name(), piece: Some(3) }),
            ("send forward_0", Action::Send { transfer: name(), piece: None }),
            ("receive forward_0 0", Action::Receive { transfer: name(), piece: Some(0) }),
            ("receive forward_0", Action::Receive { transfer: name(), piece: None }),
        ] {
            let json = format!("{text:?}");
            assert_eq!(serde_json::from_str::<Action>(&json).unwrap(), action);
            assert_eq!(serde_json::to_string(&action).unwrap(), json);
        }
    }

    #[test]
    fn other_texts_are_refused_with_what_is_expected() {
        for text in [
            "",
            "run",
            "run ",
            "run  0",
            "Run a",
            "wait a",
            "run a 0 1",
            "run a ",
            " run a",
            "run\ta",
            "run a\t",
            "run a -1",
            "run a +1",
            "run a 01",
            "run a x",
            "run a ..",
            "run a 0..",
            "run a ..2",
            "run a 0..1",
            "run a 2..2",
            "run a 3..2",
            "run a 0..4..5",
            "run a 1048576",
            "run a 0..1048577",
            "run a 18446744073709551615",
            "send a 0..2",
            "receive a 0..2",
            "send a b",
        ] {
            let error = text.parse::<Action>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{text}` is no action of a schedule, expected e.g. `run ")), "{error}");
        }
    }
}
