//! The version of the library.

use std::fmt;

/// The version that a library states.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct NrtVersion {
    /// Major, minor, patch, maintenance.
    pub numbers: [u64; 4],
    /// The library's words.
    pub detail: String,
}

impl fmt::Display for NrtVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch, maintenance] = self.numbers;
        write!(f, "{major}.{minor}.{patch}.{maintenance}")
    }
}
