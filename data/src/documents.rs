//! The documents of a text file.

use serde::Serialize;

/// The part of a text file that is one document.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Documents {
    /// The whole file.
    #[default]
    File,
    /// Each line.
    Line,
    /// The text between blank lines.
    Blank,
}
