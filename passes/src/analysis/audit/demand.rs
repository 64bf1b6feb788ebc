//! Operations that need precision.

use super::fix::RecipeKey;
use halite_support::{Code, codes};

/// The operation of an op that needs precision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Demand {
    /// Loses its meaning at low precision.
    Sensitive,
    /// Sums many elements.
    Sum,
    /// Adds gradients.
    Gradient,
    /// Sums over ranks.
    Reduce,
}

impl Demand {
    pub(super) fn code(self) -> Code {
        match self {
            Demand::Sensitive => codes::SENSITIVE_NARROW,
            Demand::Sum => codes::ACCUMULATE_NARROW,
            Demand::Gradient | Demand::Reduce => codes::GRADIENT_NARROW,
        }
    }

    pub(super) fn key(self) -> RecipeKey {
        match self {
            Demand::Sensitive => RecipeKey::SENSITIVE,
            Demand::Sum => RecipeKey::ACCUMULATE,
            Demand::Gradient => RecipeKey::GRADIENT,
            Demand::Reduce => RecipeKey::REDUCE,
        }
    }
}
