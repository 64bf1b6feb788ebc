//! The rules that tie a manifest to its recipe.

use crate::Manifest;
use halite_support::Result;

/// Holds a manifest to its own recipe: that the recipe goes together, and that flags, environment and launch are those that its target
/// derives. Whoever knows the targets implements it.
pub trait ManifestRules {
    /// Checks a manifest whose parts are sound.
    ///
    /// # Errors
    /// The first thing that is not as the recipe makes it.
    fn check(&self, manifest: &Manifest) -> Result<()>;
}
