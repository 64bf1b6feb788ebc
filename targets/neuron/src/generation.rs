//! The generations of Neuron's hardware.

use halite_recipe::{Recipe, TargetName};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A generation of Neuron's hardware, which is the target of a recipe.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Generation {
    /// The first generation of Trainium.
    Trn1,
    /// The same with twice the network between instances.
    Trn1n,
    /// The second generation of Trainium.
    Trn2,
    /// The third generation of Trainium.
    Trn3,
    /// The second generation of Inferentia, which has the cores of the first Trainium.
    Inf2,
}

impl Generation {
    /// All targets.
    pub const ALL: [Generation; 5] =
        [Generation::Trn1, Generation::Trn1n, Generation::Trn2, Generation::Trn3, Generation::Inf2];

    /// The name in recipes and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Generation::Trn1 => "trn1",
            Generation::Trn1n => "trn1n",
            Generation::Trn2 => "trn2",
            Generation::Trn3 => "trn3",
            Generation::Inf2 => "inf2",
        }
    }

    /// The one of this name, if it is one.
    pub fn named(name: &TargetName) -> Option<Self> {
        Self::ALL.into_iter().find(|generation| generation.name() == name.as_str())
    }

    /// The one that a recipe is for, if it is for one.
    pub fn of(recipe: &Recipe) -> Option<Self> {
        Self::named(&recipe.target)
    }

    /// One line for people.
    pub fn summary(self) -> &'static str {
        match self {
            Generation::Trn1 => "AWS Trainium, first generation",
            Generation::Trn1n => "the same with twice the network between instances",
            Generation::Trn2 => "AWS Trainium, second generation",
            Generation::Trn3 => "AWS Trainium, third generation",
            Generation::Inf2 => "AWS Inferentia, second generation",
        }
    }
}

impl From<Generation> for TargetName {
    fn from(generation: Generation) -> Self {
        Self::new(generation.name())
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
