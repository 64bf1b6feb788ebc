//! AdamW.

use super::moments::{Corrected, Moments};
use crate::rule::{BoundRule, UpdateRule};
use halite_recipe::{Rule, Section};
use halite_support::Result;

static SECTION: Section = Section {
    name: "adamw",
    about: "AdamW (Loshchilov and Hutter 2019): decoupled weight decay, bias-corrected moments, `eps` outside the root.",
    keys: Moments::KEYS,
    check: |recipe| Moments::check(recipe, SECTION.name),
};

#[derive(Debug)]
pub(super) struct AdamW;

impl UpdateRule for AdamW {
    fn section(&self) -> &'static Section {
        &SECTION
    }

    fn read(&self, settings: &Rule) -> Result<Box<dyn BoundRule>> {
        Ok(Box::new(Corrected { moments: settings.settings()?, decouples_decay: true }))
    }
}
