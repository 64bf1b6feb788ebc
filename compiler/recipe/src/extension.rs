//! Extensions of recipes: the names and tables that other crates add.

use crate::schema::{Key, Kind, Named, Words, optional};
use crate::{DataTable, Optimizer, Recipe, Schedule};
use halite_support::Diagnostics;

/// The targets, update rules, shapes of schedules and formats of data that a recipe may name, and the tables that they add to it.
pub trait Extension {
    /// The names of the targets, in the order in which they are listed.
    fn targets(&self) -> Vec<&str>;

    /// The tables of targets, each once.
    fn sections(&self) -> Vec<&'static Section>;

    /// The update rules, each with the settings of its own.
    fn rules(&self) -> Vec<&'static Section> {
        Vec::new()
    }

    /// The shapes of schedules, each with the settings of its own.
    fn shapes(&self) -> Vec<&'static Section> {
        Vec::new()
    }

    /// The formats that files of data may have.
    fn formats(&self) -> Words {
        Words::default()
    }
}

/// A table of a target, or of several that share it; an update rule or a shape of schedules by name.
#[derive(Debug)]
pub struct Section {
    /// Its key in the recipe; a shape is named by `schedule.shape` and has its settings in `[schedule]`.
    pub name: &'static str,
    /// Its description for a reference, in one sentence.
    pub about: &'static str,
    /// The keys that it may hold.
    pub keys: &'static [Key],
    /// Checks a recipe as far as this table goes, whatever its target; each diagnostic has the key of its entry. The keys were checked
    /// against the schema before where the recipe comes from a text.
    pub check: fn(&Recipe) -> Diagnostics,
}

/// The keys of a recipe with all that others add. Those of the schedule are those of all shapes, or of the one that is given.
pub fn keys(extension: &dyn Extension, shape: Option<&str>) -> Vec<Key> {
    let (rules, mut shapes) = (named(&extension.rules()), named(&extension.shapes()));
    if shapes.iter().any(|named| Some(named.name) == shape) {
        shapes.retain(|named| Some(named.name) == shape);
    }
    let sections = extension.sections().into_iter();
    let sections = sections.map(|section| optional(section.name, Kind::Table(section.keys.into()), section.about));
    let own = Recipe::KEYS.iter().map(|key| match key.name {
        "optimizer" => Key { kind: Optimizer::kind(&rules), ..key.clone() },
        "data" => Key { kind: DataTable::kind(extension.formats()), ..key.clone() },
        "schedule" => Key { kind: Schedule::kind(&shapes), ..key.clone() },
        _ => key.clone(),
    });
    own.chain(sections).collect()
}

/// Adds to a recipe the defaults of the rules and of the shape that it names.
pub(crate) fn fill(recipe: &mut Recipe, extension: &dyn Extension) {
    recipe.optimizer.fill(&named(&extension.rules()));
    recipe.schedule.fill(&named(&extension.shapes()));
}

fn named(sections: &[&'static Section]) -> Vec<Named> {
    let named = |section: &&'static Section| Named { name: section.name, about: section.about, keys: section.keys };
    sections.iter().map(named).collect()
}
