//! What processes say to one another.

use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Read, Write};

/// The version of what is said: processes of one run are of one.
pub(super) const VERSION: u32 = 3;

/// The most bytes of a line, in which thousands of ranks have room; more is no line of a run.
pub(super) const MOST: u64 = 1 << 26;

/// The same of a line by which one says who it is, or is told whether it takes part.
pub(super) const MOST_AT_FIRST: u64 = 1 << 12;

/// What one process of a run says to another: a line of JSON.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    /// Who connects.
    Hello {
        /// The version of what is said.
        version: u32,
        /// The number of the process, from 0.
        rank: usize,
        /// How many processes there are.
        world: usize,
        /// What the processes of the launch know.
        #[serde(default)]
        secret: String,
    },
    /// All have come.
    Welcome,
    /// What a rank says at a point.
    Say {
        /// Where all come to.
        point: String,
        /// What the rank says there.
        said: String,
    },
    /// What all say there.
    All {
        /// Where all came to.
        point: String,
        /// What each says, by rank.
        said: Vec<String>,
    },
    /// The run cannot go on.
    Failed {
        /// Why.
        reason: String,
        /// Whether another try may do.
        passes: bool,
    },
}

impl Line {
    /// Sends it.
    ///
    /// # Errors
    /// When the stream takes it not or not whole.
    pub fn send(&self, stream: &mut impl Write) -> io::Result<()> {
        let mut text = serde_json::to_string(self).map_err(io::Error::other)?;
        text.push('\n');
        stream.write_all(text.as_bytes())
    }

    /// The next line of a stream, of at most `most` bytes; none where it ended, or what comes is no line.
    pub fn receive(stream: &mut impl BufRead, most: u64) -> Option<Self> {
        let mut bytes = Vec::new();
        stream.by_ref().take(most).read_until(b'\n', &mut bytes).ok()?;
        serde_json::from_slice(bytes.strip_suffix(b"\n")?).ok()
    }
}
