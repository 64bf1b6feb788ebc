//! The keys of the table `neuron` in recipes, and their rules.

use crate::settings;
use crate::table::{NAME, Neuron};
use halite_recipe::{Recipe, Section};
use halite_support::Diagnostics;

/// The table as recipes hold it.
pub static SECTION: Section =
    Section { name: NAME, about: "Settings of the Neuron compiler and runtime.", keys: Neuron::KEYS, check };

/// Returns the errors in the table, whatever the target of the recipe.
fn check(recipe: &Recipe) -> Diagnostics {
    match Neuron::read(recipe) {
        Ok(_) => settings::check(recipe),
        Err(error) => error.into(),
    }
}
