//! The shape `warmup_stable_decay`.

use super::fall::{self, Fall, Line};
use crate::shape::{BoundShape, ScheduleShape};
use halite_recipe::schema::Kind as Takes;
use halite_recipe::{Recipe, Schedule, Section, table};
use halite_support::{Diagnostics, Result};

table! {
    /// Settings of `warmup_stable_decay`.
    #[derive(Clone, PartialEq, Debug)]
    struct Settings {
        /// The updates of the fall.
        decay: u32 as Takes::DEGREE,
    }
}

static SECTION: Section = Section {
    name: "warmup_stable_decay",
    about: "The peak, then a straight line to the floor within the last `decay` updates, then the floor.",
    keys: Settings::KEYS,
    check,
};

/// The fall begins after the warm-up.
fn check(recipe: &Recipe) -> Diagnostics {
    recipe.schedule.check_settings(SECTION.name, |Settings { decay }| fall::check(recipe, SECTION.name, *decay))
}

#[derive(Debug)]
pub(super) struct WarmupStableDecay;

impl ScheduleShape for WarmupStableDecay {
    fn section(&self) -> &'static Section {
        &SECTION
    }

    fn read(&self, schedule: &Schedule) -> Result<Box<dyn BoundShape>> {
        let (Settings { decay }, end) = (schedule.settings()?, f64::from(schedule.steps));
        Ok(Box::new(Line { fall: Fall { start: end - f64::from(decay), end }, floor: schedule.floor }))
    }
}
