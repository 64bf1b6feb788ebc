//! What goes together in a recipe, whether it comes from a text or in a manifest.

mod numbers;
mod overrides;
mod precision;
mod rounding;

use crate::visible::check_visible;
use crate::{Extension, Places, Recipe};
use halite_support::nearest::{list, suggestion};
use halite_support::{Diagnostic, Diagnostics, codes};

pub use rounding::check_realizable;

/// Every contradiction in a recipe, each at its place where `places` knows it.
pub fn check(recipe: &Recipe, places: &Places, extension: &dyn Extension) -> Diagnostics {
    if let Err(error) = check_visible(recipe) {
        let place = error.recipe_key().and_then(|key| places.nearest(key));
        return error.or_at(place, "stated here").into();
    }
    let mut errors = names(recipe, extension);
    precision::check(&recipe.precision, places, &mut errors);
    // A type that no update is computed in would only be complained of again.
    if errors.is_empty() {
        numbers::check(recipe, places, &mut errors);
    }
    overrides::check(&recipe.precision, places, &mut errors);
    rounding::check(&recipe.precision, places, &mut errors);
    for section in extension.sections() {
        errors.extend((section.check)(recipe).into_iter().map(|error| {
            let span = error.recipe_key().and_then(|key| places.nearest(key));
            error.or_at(span, "set here")
        }));
    }
    errors
}

/// A target that nobody knows, and tables that are none of a target. A text has neither: its schema was checked.
fn names(recipe: &Recipe, extension: &dyn Extension) -> Diagnostics {
    let targets = extension.targets();
    let target = recipe.target.as_str();
    let unknown = (!targets.contains(&target)).then(|| {
        let error = Diagnostic::error(
            codes::RECIPE_RANGE,
            format!("`target` is `{target}`, expected one of {}", list(&targets)),
        );
        error.help(suggestion(target, &targets))
    });
    let sections: Vec<&str> = extension.sections().into_iter().map(|section| section.name).collect();
    let foreign = recipe.sections.keys().filter(|name| !sections.contains(&name.as_str()));
    let foreign = foreign.map(|name| {
        Diagnostic::error(codes::RECIPE_KEY, format!("unknown key `{name}`")).help(suggestion(name, &sections))
    });
    unknown.into_iter().chain(foreign).collect()
}
