//! What a recipe can say and nothing compiles yet.

use crate::{Clip, Nonfinite, Recipe};
use halite_support::{Diagnostic, codes};

/// The first thing that a recipe asks for and that is not compiled, with its key.
pub fn not_yet(recipe: &Recipe) -> Option<Diagnostic> {
    let optimizer = &recipe.optimizer;
    let clip = optimizer.clip.filter(|clip| !matches!(clip, Clip::Norm(_))).map(|clip| clip.entry().0);
    let accumulates = recipe.sizes().is_ok_and(|sizes| sizes.accumulate > 1);
    let accumulate = if recipe.accumulate.is_some() { "accumulate" } else { "parallel.global_batch" };
    let parts = [
        (!optimizer.groups.is_empty()).then(|| ("optimizer.group".to_owned(), "all parameters are updated alike")),
        optimizer.ema.map(|_| ("optimizer.ema".to_owned(), "no average of the weights is kept")),
        clip.map(|key| (format!("{}.{key}", optimizer.path()), "gradients are clipped by `clip_norm`")),
        accumulates.then(|| (accumulate.to_owned(), "one step is one update")),
        (recipe.nonfinite == Nonfinite::Skip).then(|| ("nonfinite".to_owned(), "every update is made")),
    ];
    let (key, instead) = parts.into_iter().flatten().next()?;
    let error = Diagnostic::error(codes::NOT_SUPPORTED, format!("`{key}` asks for what is not compiled yet"));
    Some(error.note(instead).help(format!("remove `{key}`")).key(key))
}
