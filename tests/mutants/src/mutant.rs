//! A mutant as a line of a list.

use serde::{Deserialize, Serialize};
use std::error::Error;
use std::path::Path;

/// The result of a function here, with an error of any type.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// One change of one place. File, kind, both texts, the text of the line and a count find the place in another version of the
/// sources, where the line has another number.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Mutant {
    /// The number of its switch, from 1.
    pub number: u32,
    /// Of the root of the repository.
    pub file: String,
    /// In the sources that it was drawn from, from 1.
    pub line: usize,
    /// The kind of change.
    pub kind: String,
    /// The text that is replaced.
    pub before: String,
    /// The text that replaces it.
    pub after: String,
    /// The line, without spaces around it.
    pub text: String,
    /// The number of places before it in the file that agree with it in all of this.
    pub nth: usize,
}

/// The mutants of a file with one to a line.
pub fn read(path: &Path) -> Result<Vec<Mutant>> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// Writes mutants, one to a line.
pub fn write(path: &Path, mutants: &[Mutant]) -> Result<()> {
    let mut text = String::new();
    for mutant in mutants {
        text.push_str(&serde_json::to_string(mutant)?);
        text.push('\n');
    }
    Ok(std::fs::write(path, text)?)
}
