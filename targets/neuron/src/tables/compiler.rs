//! The Neuron compiler: versions, flags, error codes.

use crate::Generation;
use halite_target::Provenance;
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

/// A flag of `neuronx-cc compile`, or one that people take for it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompilerFlag {
    /// Its name with dashes.
    pub name: String,
    /// Other names.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Who may give it.
    #[serde(default)]
    pub given_by: FlagGiver,
    /// The values it takes; empty for a flag without one; `*` for any.
    #[serde(default)]
    pub values: Vec<String>,
    /// The values of which it takes a list too, with commas between them.
    #[serde(default)]
    pub list: Vec<String>,
    /// Whether it takes several values, each a word of its own.
    #[serde(default)]
    pub words: bool,
    /// The behaviour without the flag; empty where there is none.
    #[serde(default)]
    pub defaults: Vec<FlagDefault>,
    /// The value that Halite writes where the recipe says none; left out for a flag that it leaves out, or whose value
    /// follows from the recipe.
    #[serde(default)]
    pub pinned: Option<String>,
    /// The targets that take it.
    pub targets: Vec<Generation>,
    /// The versions that take it.
    #[serde(default)]
    pub compiler: VersionRange,
    /// Its effect, a clause without capital and full stop.
    pub summary: String,
    /// The source of this.
    pub provenance: Provenance,
}

/// The behaviour without a flag.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlagDefault {
    /// The value; `on` or `off` for a flag without one.
    pub value: String,
    /// The targets that this applies to; left out, all that take the flag.
    #[serde(default)]
    pub targets: Vec<Generation>,
    /// The versions that this applies to.
    #[serde(default)]
    pub compiler: VersionRange,
}

/// Who may give a flag.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FlagGiver {
    /// A recipe: the documentation describes it.
    #[default]
    Recipe,
    /// The command that runs the compiler: it names files and messages.
    Command,
    /// Nobody: wrappers of the compiler read it and do not pass it on.
    Wrapper,
    /// A recipe, at its own risk: public projects use it, and no documentation describes it.
    Undocumented,
}

impl CompilerFlag {
    /// Whether this is one of its names.
    pub fn is(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }

    /// Whether a target takes it in a version.
    pub fn is_taken(&self, target: Generation, version: &CompilerVersion) -> bool {
        self.targets.contains(&target) && self.compiler.contains(version)
    }

    /// The value that applies on a target in a version without the flag; `None` where nothing is known.
    pub fn default(&self, target: Generation, version: &CompilerVersion) -> Option<&str> {
        let of = |row: &&FlagDefault| row.targets.is_empty() || row.targets.contains(&target);
        let row = self.defaults.iter().filter(of).find(|row| row.compiler.contains(version));
        row.map(|row| row.value.as_str())
    }

    /// Whether it takes a value.
    pub fn has_value(&self) -> bool {
        !self.values.is_empty()
    }

    /// Whether it takes this value.
    pub fn takes(&self, value: &str) -> bool {
        let listed = || !self.list.is_empty() && value.split(',').all(|part| self.list.iter().any(|own| own == part));
        self.values.iter().any(|own| own == value || own == "*") || listed()
    }
}

/// An error of `neuronx-cc` that has a code.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompilerError {
    /// The code as the compiler prints it, with or without `NCC_`.
    pub code: String,
    /// Its meaning.
    pub meaning: String,
    /// Advice on what to change in the model or recipe.
    pub remedy: String,
    /// The source of this.
    pub provenance: Provenance,
}
