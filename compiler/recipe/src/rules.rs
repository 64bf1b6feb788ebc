//! Rules on what goes together in a recipe, whether it comes from a text or in a manifest.

mod calls;
mod data;
mod loss_scale;
mod numbers;
mod optimizer;
mod overrides;
mod parallel;
mod precision;
mod rounding;

use crate::visible::check_visible;
use crate::{Extension, Places, Recipe, Section};
use halite_support::nearest::{list, suggestion};
use halite_support::{Diagnostic, Diagnostics, codes};

pub use numbers::in_update;
pub use rounding::check_realizable;

/// Every contradiction in a recipe, each at its place where `places` knows it.
pub fn check(recipe: &Recipe, places: &Places, extension: &dyn Extension) -> Diagnostics {
    if let Err(error) = check_visible(recipe) {
        let place = error.recipe_key().and_then(|key| places.nearest(key));
        return error.or_at(place, "stated here").into();
    }
    let at_key = |error: Diagnostic| {
        let span = error.recipe_key().and_then(|key| places.nearest(key));
        error.or_at(span, "set here")
    };
    let all = |sections: Vec<&'static Section>| {
        sections.into_iter().flat_map(|section| (section.check)(recipe)).map(at_key).collect::<Diagnostics>()
    };
    let mut errors = names(recipe, extension);
    optimizer::check(recipe, places, extension, &mut errors);
    precision::check(&recipe.precision, places, &mut errors);
    // A type that no update is computed in, or a rule that nobody knows, would only be complained of again.
    if errors.is_empty() {
        numbers::check(recipe, places, extension, &mut errors);
    }
    if errors.is_empty() {
        errors.extend(all(extension.rules()).into_iter().chain(all(extension.shapes())));
    }
    parallel::check(recipe, places, &mut errors);
    loss_scale::check(recipe, places, &mut errors);
    overrides::check(&recipe.precision, places, &mut errors);
    rounding::check(&recipe.precision, places, &mut errors);
    calls::check(recipe, places, &mut errors);
    data::check(recipe, places, extension, &mut errors);
    errors.extend(all(extension.sections()));
    errors
}

/// Reports an unknown target, and tables that belong to no target. A text has neither: its schema was checked.
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
