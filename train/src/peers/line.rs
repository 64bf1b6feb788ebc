//! What processes say to one another.

use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Read, Write};
use std::net::TcpStream;

/// The version of what is said: processes of one run are of one.
pub(super) const VERSION: u32 = 3;

/// The most bytes of a line, in which thousands of ranks have room; more is no line of a run.
pub(super) const MOST: u64 = 1 << 26;

/// The same of a line by which one says who it is, or is told whether it takes part.
pub(super) const MOST_AT_FIRST: u64 = 1 << 12;

/// A line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Line {
    /// Who connects.
    Hello {
        version: u32,
        rank: usize,
        world: usize,
        #[serde(default)]
        secret: String,
    },
    /// All have come.
    Welcome,
    /// What a rank says at a point.
    Say { point: String, said: String },
    /// What all say there.
    All { point: String, said: Vec<String> },
    /// The run cannot go on; whether another try may do.
    Failed { reason: String, passes: bool },
}

/// Sends a line.
pub(super) fn send(stream: &mut TcpStream, line: &Line) -> io::Result<()> {
    let mut text = serde_json::to_string(line).map_err(io::Error::other)?;
    text.push('\n');
    stream.write_all(text.as_bytes())
}

/// The next line of a stream, of at most so many bytes; none where it ended, or what comes is no line.
pub(super) fn receive(stream: &mut impl BufRead, most: u64) -> Option<Line> {
    let mut bytes = Vec::new();
    stream.by_ref().take(most).read_until(b'\n', &mut bytes).ok()?;
    serde_json::from_slice(bytes.strip_suffix(b"\n")?).ok()
}
