//! Functions that stay functions, and what their backwards compute again.

use crate::{Calls, Places, Recipe, Recompute};
use halite_support::{Diagnostic, Diagnostics, codes};

pub(super) fn check(recipe: &Recipe, places: &Places, mistakes: &mut Diagnostics) {
    mistakes.extend(rounded(recipe, places));
    mistakes.extend(nothing(&recipe.recompute, places));
}

/// Each narrowing has random bits of its own, which a function that several calls share cannot have.
fn rounded(recipe: &Recipe, places: &Places) -> Option<Diagnostic> {
    recipe.emit.calls.filter(|calls| *calls != Calls::Inline && recipe.precision.rounds_everywhere())?;
    let message = "`emit.calls` keeps calls, but each narrowing of `precision.sr.sites = \"all\"` has bits of its own";
    let error = Diagnostic::error(codes::RECIPE_CLASH, message).or_at(places.nearest("emit.calls"), "calls stay calls");
    Some(
        error.help("remove `emit.calls`: what is called is written in the place of calls then; or set `precision.sr.sites = \"weight_write\"`"),
    )
}

/// `none` and something.
fn nothing(words: &[Recompute], places: &Places) -> Option<Diagnostic> {
    if words.len() < 2 || !words.contains(&Recompute::None) {
        return None;
    }
    let error = Diagnostic::error(codes::RECIPE_CLASH, "`recompute` lists `none` and something");
    Some(error.or_at(places.nearest("recompute"), "one or the other").help("remove `none`, or everything else"))
}

impl Recipe {
    /// What becomes of calls, where the target does as it does when a recipe says nothing.
    pub fn calls(&self, of_target: Calls) -> Calls {
        if self.precision.rounds_everywhere() { Calls::Inline } else { self.emit.calls.unwrap_or(of_target) }
    }
}
