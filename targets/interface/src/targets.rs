//! The targets that a session knows.

use crate::target::{Target, Variant};
use halite_recipe::{Section, TargetName};
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, Result, codes};
use std::sync::Arc;

/// The targets that a session knows, by the names of their variants. A value owned by the session.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    targets: Vec<(Arc<dyn Target>, Vec<Variant>)>,
}

impl Targets {
    /// Adds a target.
    ///
    /// # Errors
    /// When one has the name of a variant already, or another table of that name.
    pub fn register(&mut self, target: Arc<dyn Target>) -> Result<()> {
        let variants = target.variants();
        let taken = |variant: &&Variant| self.variants().any(|own| own.name == variant.name);
        if let Some(variant) = variants.iter().find(taken) {
            let message = format!("a target named `{}` is registered already", variant.name);
            return Err(Diagnostic::error(codes::DUPLICATE, message));
        }
        if let Some(section) = target.section().filter(|new| self.sections().iter().any(|own| own.name == new.name)) {
            let message = format!("a target with the table `{}` is registered already", section.name);
            return Err(Diagnostic::error(codes::DUPLICATE, message));
        }
        self.targets.push((target, variants));
        Ok(())
    }

    /// All variants in order of registration.
    pub fn variants(&self) -> impl Iterator<Item = &Variant> {
        self.targets.iter().flat_map(|(_, variants)| variants)
    }

    /// All targets in order of registration.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Target>> {
        self.targets.iter().map(|(target, _)| target)
    }

    /// The tables of targets, each once.
    pub fn sections(&self) -> Vec<&'static Section> {
        self.iter().filter_map(|target| target.section()).collect()
    }

    /// The target of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn get(&self, name: &TargetName) -> Result<&dyn Target> {
        let is = |variants: &[Variant]| variants.iter().any(|variant| variant.name == name.as_str());
        let found = self.targets.iter().find(|(_, variants)| is(variants));
        found.map(|(target, _)| &**target).ok_or_else(|| {
            let names: Vec<&str> = self.variants().map(|variant| variant.name.as_str()).collect();
            Diagnostic::error(codes::RECIPE_RANGE, format!("there is no target `{name}`"))
                .key("target")
                .help(suggestion(name.as_str(), &names))
        })
    }
}
