//! What targets add to recipes.

use crate::Recipe;
use crate::schema::{Key, Kind, optional};
use halite_support::Diagnostics;

/// The targets that a recipe may name, and the tables that they add to it.
pub trait Extension {
    /// The names of the targets, in the order in which they are listed.
    fn targets(&self) -> Vec<&str>;

    /// The tables of targets, each once.
    fn sections(&self) -> Vec<&'static Section>;
}

/// A table of a target, or of several that share it.
#[derive(Debug)]
pub struct Section {
    /// Its key in the recipe.
    pub name: &'static str,
    /// What it may hold.
    pub keys: &'static [Key],
    /// What is wrong with a recipe as far as this table goes, whatever its target: each diagnostic with the key of its
    /// entry. The keys were held to the schema before where the recipe comes from a text.
    pub check: fn(&Recipe) -> Diagnostics,
}

/// No target but the default one, and no table.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoExtension;

impl Extension for NoExtension {
    fn targets(&self) -> Vec<&str> {
        vec!["cpu"]
    }

    fn sections(&self) -> Vec<&'static Section> {
        Vec::new()
    }
}

/// The keys of a recipe with the tables of targets.
pub(crate) fn keys(extension: &dyn Extension) -> Vec<Key> {
    let sections = extension.sections().into_iter().map(|section| optional(section.name, Kind::Table(section.keys)));
    Recipe::KEYS.iter().copied().chain(sections).collect()
}
