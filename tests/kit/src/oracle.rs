//! Models of what passes define.

use halite::Session;
use halite_ir::Module;
use halite_recipe::Recipe;
use std::fmt;

/// Holds passes whose results are others than before ([`Relation::Defines`](halite_passes::Relation::Defines)) to a model of what
/// they define, which shares no code with them.
pub trait Oracle: fmt::Debug + Send + Sync {
    /// Whether `after` is what the pass of this name makes of `before` under the recipe; `None` where this oracle has no model of
    /// the pass.
    ///
    /// # Errors
    /// Naming the result that differs, for people.
    fn check(
        &self,
        pass: &str,
        before: &Module,
        after: &Module,
        recipe: &Recipe,
        session: &Session,
    ) -> Option<Result<(), String>>;
}
