//! What a recipe can say and nothing compiles yet.

use crate::{Clip, Recipe, Schedule};
use halite_support::{Diagnostic, codes};

/// The first thing that a recipe asks for and that is not compiled, with its key.
pub fn not_yet(recipe: &Recipe) -> Option<Diagnostic> {
    let optimizer = &recipe.optimizer;
    let clip = optimizer.clip.filter(|clip| !matches!(clip, Clip::Norm(_))).map(|clip| clip.entry().0);
    let parts = [
        (!optimizer.groups.is_empty()).then(|| ("optimizer.group".to_owned(), "all parameters are updated alike")),
        optimizer.ema.map(|_| ("optimizer.ema".to_owned(), "no average of the weights is kept")),
        clip.map(|key| (format!("{}.{key}", optimizer.path()), "gradients are clipped by `clip_norm`")),
        (recipe.schedule.shape != Schedule::COSINE)
            .then(|| ("schedule.shape".to_owned(), "the rate falls as a cosine")),
    ];
    let (key, instead) = parts.into_iter().flatten().next()?;
    let error = Diagnostic::error(codes::NOT_SUPPORTED, format!("`{key}` asks for what is not compiled yet"));
    Some(error.note(instead).help(format!("remove `{key}`")).key(key))
}
