//! Adam.

use super::moments::{Corrected, Moments};
use crate::rule::{BoundRule, UpdateRule};
use halite_recipe::{Rule, Section};
use halite_support::Result;

static SECTION: Section = Section {
    name: "adam",
    about: "Adam (Kingma and Ba 2015) with weight decay in the gradient, as of an L2 penalty; `eps` outside the root.",
    keys: Moments::KEYS,
    check: |recipe| Moments::check(recipe, SECTION.name),
};

#[derive(Debug)]
pub(super) struct Adam;

impl UpdateRule for Adam {
    fn section(&self) -> &'static Section {
        &SECTION
    }

    fn read(&self, settings: &Rule) -> Result<Box<dyn BoundRule>> {
        Ok(Box::new(Corrected { moments: settings.settings()?, decouples_decay: false }))
    }
}
