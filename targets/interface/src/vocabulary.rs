//! The names that recipes may use.

use crate::Targets;
use halite_bundle::{Manifest, ManifestRules};
use halite_optim::{ScheduleShapes, UpdateRules};
use halite_recipe::{Extension, Places, Section, Words};
use halite_support::Result;

/// The names that the recipes of a session may use: targets, update rules, shapes of schedules and formats of data.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    /// Known targets.
    pub targets: Targets,
    /// Known update rules.
    pub rules: UpdateRules,
    /// Known shapes of schedules.
    pub shapes: ScheduleShapes,
    /// Known formats of data.
    pub formats: Words,
}

impl Vocabulary {
    /// A vocabulary of these targets and the built-in update rules and shapes. It has no formats of data, which do not matter to
    /// compiling.
    pub fn builtin(targets: Targets) -> Self {
        Self { targets, rules: UpdateRules::builtin(), shapes: ScheduleShapes::builtin(), formats: Words::default() }
    }
}

impl Extension for Vocabulary {
    fn targets(&self) -> Vec<&str> {
        self.targets.variants().map(|variant| variant.name.as_str()).collect()
    }

    fn sections(&self) -> Vec<&'static Section> {
        self.targets.sections()
    }

    fn rules(&self) -> Vec<&'static Section> {
        self.rules.sections()
    }

    fn shapes(&self) -> Vec<&'static Section> {
        self.shapes.sections()
    }

    fn formats(&self) -> Words {
        self.formats
    }
}

impl ManifestRules for Vocabulary {
    fn check(&self, manifest: &Manifest) -> Result<()> {
        match halite_recipe::check(&manifest.recipe, &Places::default(), self).into_iter().next() {
            Some(error) => Err(error),
            None => self.targets.get(&manifest.recipe.target)?.check_manifest(manifest),
        }
    }
}
