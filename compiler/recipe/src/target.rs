//! The name of a target.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The name of what the HLO is for, as recipes and the command line say it. By default `cpu`, for CPU XLA. Which names
/// there are, whoever compiles knows.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TargetName(String);

impl TargetName {
    /// A name.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for TargetName {
    fn default() -> Self {
        Self::new("cpu")
    }
}

impl From<&str> for TargetName {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl PartialEq<str> for TargetName {
    fn eq(&self, name: &str) -> bool {
        self.0 == name
    }
}

impl fmt::Display for TargetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
