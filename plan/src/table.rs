//! Tables of this build.

use halite_support::{Diagnostic, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table<T> {
    row: Vec<T>,
}

/// The rows of a table in TOML, `of` saying what they are.
///
/// # Errors
/// A bug when it is none: tables are part of the build.
pub(crate) fn rows<T: DeserializeOwned>(text: &str, of: &str) -> Result<Vec<T>> {
    let table: Table<T> =
        toml::from_str(text).map_err(|error| Diagnostic::bug(format!("the table of {of}: {error}")))?;
    Ok(table.row)
}
