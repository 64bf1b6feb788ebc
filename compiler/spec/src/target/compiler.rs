//! The Neuron compiler: versions, flags, error codes.

use super::{Provenance, Target};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A version of `neuronx-cc`: numbers between dots, compared in order. `2.27` comes before `2.27.1`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CompilerVersion(pub Vec<u32>);

impl TryFrom<String> for CompilerVersion {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let numbers: Result<Vec<u32>, _> = text.split('.').map(str::parse).collect();
        numbers.map(Self).map_err(|_| format!("`{text}` is no version; expected numbers with dots, such as `2.27`"))
    }
}

impl From<CompilerVersion> for String {
    fn from(version: CompilerVersion) -> Self {
        version.to_string()
    }
}

impl fmt::Display for CompilerVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(u32::to_string).collect();
        f.write_str(&numbers.join("."))
    }
}

/// Versions for which something holds.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VersionRange {
    /// The first; left out, all earlier ones.
    pub since: Option<CompilerVersion>,
    /// The first for which it no longer holds; left out, all later ones.
    pub until: Option<CompilerVersion>,
}

impl VersionRange {
    /// Whether a version is in the range.
    pub fn contains(&self, version: &CompilerVersion) -> bool {
        self.since.as_ref().is_none_or(|since| since <= version)
            && self.until.as_ref().is_none_or(|until| version < until)
    }
}

/// A documented flag of `neuronx-cc compile`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompilerFlag {
    /// Its name with dashes.
    pub name: String,
    /// Other names.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// The values it takes; empty for a flag without one; `*` for any.
    #[serde(default)]
    pub values: Vec<String>,
    /// Whether a list of the values, with commas, is taken too.
    #[serde(default)]
    pub list: bool,
    /// What holds without it, in the versions of `compiler`; left out where nothing does.
    #[serde(default)]
    pub default: Option<String>,
    /// The targets that take it.
    pub targets: Vec<Target>,
    /// The versions that take it.
    #[serde(default)]
    pub compiler: VersionRange,
    /// What it does, in a line.
    pub summary: String,
    /// Where that is known from.
    pub provenance: Provenance,
}

/// An error of `neuronx-cc` that has a code.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompilerError {
    /// The code as the compiler prints it, with or without `NCC_`.
    pub code: String,
    /// What it says.
    pub meaning: String,
    /// What to do in the model or recipe.
    pub remedy: String,
    /// Where that is known from.
    pub provenance: Provenance,
}
