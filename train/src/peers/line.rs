//! The protocol between the processes of a run.

use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Read, Write};

/// The version of the protocol. All processes of a run have the same.
pub(super) const VERSION: u32 = 3;

/// The most bytes of a line, enough for thousands of ranks. A longer line is of no run.
pub(super) const MOST: u64 = 1 << 26;

/// The most bytes of a greeting, and of the answer to it.
pub(super) const MOST_AT_FIRST: u64 = 1 << 12;

/// A message from one process of a run to another: a line of JSON.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    /// The greeting of a process that connects.
    Hello {
        /// The version of the protocol.
        version: u32,
        /// The number of the process, from 0.
        rank: usize,
        /// The number of processes.
        world: usize,
        /// The secret of the launch.
        #[serde(default)]
        secret: String,
    },
    /// All processes have met.
    Welcome,
    /// The text of a rank at a point.
    Say {
        /// The name of the point, which all ranks reach.
        point: String,
        /// The text of the rank.
        said: String,
    },
    /// The texts of all ranks at a point.
    All {
        /// The name of the point.
        point: String,
        /// The texts, by rank.
        said: Vec<String>,
    },
    /// The run cannot go on.
    Failed {
        /// The reason.
        reason: String,
        /// Whether another try may succeed.
        passes: bool,
    },
}

impl Line {
    /// Sends the line.
    ///
    /// # Errors
    /// When the stream does not take it, or not whole.
    pub fn send(&self, stream: &mut impl Write) -> io::Result<()> {
        let mut text = serde_json::to_string(self).map_err(io::Error::other)?;
        text.push('\n');
        stream.write_all(text.as_bytes())
    }

    /// Receives the next line of a stream, of at most `most` bytes; `None` where the stream ended, or the text is no such line.
    pub fn receive(stream: &mut impl BufRead, most: u64) -> Option<Self> {
        let mut bytes = Vec::new();
        stream.by_ref().take(most).read_until(b'\n', &mut bytes).ok()?;
        serde_json::from_slice(bytes.strip_suffix(b"\n")?).ok()
    }
}
