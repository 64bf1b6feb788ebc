//! What a recipe can say and nothing compiles yet.

use crate::{Recipe, Schedule};
use halite_support::{Diagnostic, codes};

/// The first thing that a recipe asks for and that is not compiled, with its key.
pub fn not_yet(recipe: &Recipe) -> Option<Diagnostic> {
    let parts = [(recipe.schedule.shape != Schedule::COSINE)
        .then(|| ("schedule.shape".to_owned(), "the rate falls as a cosine"))];
    let (key, instead) = parts.into_iter().flatten().next()?;
    let error = Diagnostic::error(codes::NOT_SUPPORTED, format!("`{key}` asks for what is not compiled yet"));
    Some(error.note(instead).help(format!("remove `{key}`")).key(key))
}
