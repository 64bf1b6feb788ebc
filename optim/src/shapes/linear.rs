//! The shape `linear`.

use super::fall::{self, Fall, Line};
use crate::shape::{BoundShape, ScheduleShape};
use halite_recipe::{Schedule, Section};
use halite_support::Result;

static SECTION: Section = Section {
    name: "linear",
    about: "A straight line from the peak to the floor at update `steps`, then the floor.",
    keys: &[],
    check: |recipe| fall::check(recipe, SECTION.name, 1),
};

#[derive(Debug)]
pub(super) struct Linear;

impl ScheduleShape for Linear {
    fn section(&self) -> &'static Section {
        &SECTION
    }

    fn read(&self, schedule: &Schedule) -> Result<Box<dyn BoundShape>> {
        let fall = Fall { start: f64::from(schedule.warmup), end: f64::from(schedule.steps) };
        Ok(Box::new(Line { fall, floor: schedule.floor }))
    }
}
