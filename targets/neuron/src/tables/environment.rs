//! Variables of the environment of a program.

use halite_target::Provenance;
use serde::{Deserialize, Serialize};

/// A variable of the environment that the Neuron runtime reads, or that others use for what Halite says otherwise.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    /// Its name; a `*` at the end stands for any text.
    pub name: String,
    /// Who sets it around a program of Halite.
    pub set_by: Setter,
    /// The values that it takes.
    #[serde(default)]
    pub values: VariableValues,
    /// The value that applies without it; left out where there is none, or sources differ.
    #[serde(default)]
    pub default: Option<String>,
    /// The value that Halite writes for Neuron targets where the recipe says none.
    #[serde(default)]
    pub pinned: Option<String>,
    /// The value that Halite writes where a token puts collectives in one order (`neuron.emit.tokens`) and the recipe says none.
    #[serde(default)]
    pub ordered: Option<String>,
    /// Whether nothing starts while it is set: a library that may be loaded beside the program reads it.
    #[serde(default)]
    pub forbidden: bool,
    /// Its effect, a clause without capital and full stop.
    pub meaning: String,
    /// The setting to use instead, for a variable that a recipe cannot set.
    #[serde(default)]
    pub instead: Option<String>,
    /// The source of this.
    pub provenance: Provenance,
}

/// Who sets a variable around a program of Halite.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Setter {
    /// The recipe may, in `neuron.environment`.
    Recipe,
    /// Halite does, from what the recipe says.
    Halite,
    /// Whatever starts the processes does, for each of them.
    Launcher,
    /// Nobody: it has no place around a program of Halite.
    Nobody,
}

/// The values that a variable takes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VariableValues {
    /// Any text.
    #[default]
    Any,
    /// A whole number, from 0 to 2^31 - 1.
    Whole,
    /// One of these words.
    Words(Vec<String>),
}

impl Variable {
    /// Whether it is the variable of this name.
    pub fn is(&self, name: &str) -> bool {
        stands_for(&self.name, name)
    }
}

/// Variables that decide what code processes run, which only whoever runs them sets.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReservedVariables {
    /// Their names; a `*` at the end stands for any text.
    pub names: Vec<String>,
    /// The effect of each of them, a clause without full stop about `it`.
    pub meaning: String,
    /// The source of this.
    pub provenance: Provenance,
}

impl ReservedVariables {
    /// Whether the variable of this name is one of them.
    pub fn hold(&self, name: &str) -> bool {
        self.names.iter().any(|own| stands_for(own, name))
    }
}

/// Whether a name of a table, in which a `*` at the end stands for any text, stands for this one.
fn stands_for(own: &str, name: &str) -> bool {
    own.strip_suffix('*').map_or(own == name, |start| name.starts_with(start))
}
