//! Where the documents of a text are.

use serde::Serialize;

/// What a document of a text file is.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Documents {
    /// The whole file.
    #[default]
    File,
    /// Each line.
    Line,
    /// What stands between blank lines.
    Blank,
}
