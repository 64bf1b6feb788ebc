//! What the table of the recipe may hold, and its rules.

use crate::settings;
use crate::table::{NAME, Neuron};
use crate::tables::CompilerVersion;
use halite_recipe::schema::{Form, Key, Kind, optional};
use halite_recipe::{Recipe, Section};
use halite_support::Diagnostics;

/// The table as recipes hold it.
pub static SECTION: Section = Section { name: NAME, keys: KEYS, check };

const KEYS: &[Key] = &[
    optional("environment", Kind::Variables),
    optional("allow_environment", Kind::Texts),
    optional("flags", Kind::Texts),
    optional("compiler", Kind::Form(VERSION)),
    optional("allow", Kind::Texts),
    optional("emit", Kind::Table(EMIT)),
];

const VERSION: Form = Form { expected: "a version of `neuronx-cc` such as \"2.27\"", is_one: is_version };

fn is_version(text: &str) -> bool {
    CompilerVersion::try_from(text.to_owned()).is_ok()
}

const EMIT: &[Key] =
    &[optional("groups", Kind::Word(&["replica_groups", "collective_device_list"])), optional("channels", Kind::Bool)];

/// What is wrong with the table, whatever the target of the recipe.
fn check(recipe: &Recipe) -> Diagnostics {
    match Neuron::read(recipe) {
        Ok(_) => settings::check(recipe),
        Err(error) => error.into(),
    }
}
