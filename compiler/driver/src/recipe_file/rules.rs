//! What goes together in a recipe, whether it comes from a text or in a manifest.

mod allow;
mod numbers;
mod overrides;
mod precision;
mod rounding;

use super::Places;
use crate::{neuron, visible};
use halite_spec::Recipe;
use halite_support::Diagnostics;

/// Every contradiction in a recipe, each at its place where `places` knows it.
pub(crate) fn check(recipe: &Recipe, places: &Places) -> Diagnostics {
    if let Err(mistake) = visible::check(recipe) {
        let place = mistake.recipe_key().and_then(|key| places.nearest(key));
        return mistake.or_at(place, "stated here").into();
    }
    let mut mistakes = Diagnostics::new();
    precision::check(&recipe.precision, places, &mut mistakes);
    // A type that no update is computed in would only be complained of again.
    if mistakes.is_empty() {
        numbers::check(recipe, places, &mut mistakes);
    }
    overrides::check(&recipe.precision, places, &mut mistakes);
    rounding::check(&recipe.precision, places, &mut mistakes);
    allow::check(&recipe.neuron.allow, places, &mut mistakes);
    mistakes.extend(neuron::check(recipe).into_iter().map(|mistake| {
        let span = mistake.recipe_key().and_then(|key| places.nearest(key));
        mistake.or_at(span, "set here")
    }));
    mistakes
}
