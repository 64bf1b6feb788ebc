//! An extension for the tests of this crate.

use crate::rules::in_update;
use crate::schema::Kind;
use crate::{Extension, Recipe, Schedule, Section, table};
use halite_support::Diagnostics;

table! {
    /// Settings of the rule `adamw`.
    pub(crate) struct AdamW {
        pub(crate) betas: [f64; 2] as Kind::DECAYS = [0.9, 0.95],
        pub(crate) eps: f64 as Kind::POSITIVE = 1e-8,
    }
}

table! {
    /// Settings of the rule `sgd`.
    pub(crate) struct Sgd {
        pub(crate) momentum: f64 as Kind::DECAY = 0.0,
    }
}

static ADAMW: Section = Section { name: "adamw", about: "what a test knows", keys: AdamW::KEYS, check: adamw };

static SGD: Section = Section { name: "sgd", about: "what a test knows", keys: Sgd::KEYS, check: sgd };

static COSINE: Section =
    Section { name: Schedule::COSINE, about: "what a test knows", keys: &[], check: |_| Diagnostics::new() };

fn adamw(recipe: &Recipe) -> Diagnostics {
    recipe.optimizer.check_settings("adamw", |path, AdamW { betas: [_, second], eps }| {
        let corrected = eps * (1.0 - second).sqrt();
        in_update(recipe, format!("{path}.eps"), "the correction at the first update", corrected)
    })
}

fn sgd(recipe: &Recipe) -> Diagnostics {
    recipe.optimizer.check_settings("sgd", |_, _: &Sgd| None)
}

/// The default target, two update rules and a shape.
pub(crate) struct Known;

impl Extension for Known {
    fn targets(&self) -> Vec<&str> {
        vec!["cpu"]
    }

    fn sections(&self) -> Vec<&'static Section> {
        Vec::new()
    }

    fn rules(&self) -> Vec<&'static Section> {
        vec![&ADAMW, &SGD]
    }

    fn shapes(&self) -> Vec<&'static Section> {
        vec![&COSINE]
    }
}
