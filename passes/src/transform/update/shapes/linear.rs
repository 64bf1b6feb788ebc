//! A straight line from the peak to the floor at update `steps`, then the floor.

use super::fall::{self, Fall};
use crate::transform::update::rule::Time;
use crate::transform::update::shape::{BoundShape, ScheduleShape};
use halite_ir::{Builder, Value};
use halite_recipe::{Schedule, Section};
use halite_support::Result;

static SECTION: Section = Section { name: "linear", keys: &[], check: |recipe| fall::check(recipe, SECTION.name, 1) };

#[derive(Debug)]
pub(super) struct Linear;

impl ScheduleShape for Linear {
    fn section(&self) -> &'static Section {
        &SECTION
    }

    fn read(&self, schedule: &Schedule) -> Result<Box<dyn BoundShape>> {
        let fall = Fall { start: f64::from(schedule.warmup), end: f64::from(schedule.steps) };
        Ok(Box::new(Bound { fall, floor: schedule.floor }))
    }
}

#[derive(Debug)]
struct Bound {
    fall: Fall,
    floor: f64,
}

impl BoundShape for Bound {
    fn rate(&self, b: &mut Builder<'_>, time: Time, peak: f64) -> Result<Value> {
        self.fall.linear(b, time, peak, self.floor)
    }

    fn reference(&self, time: f64) -> f64 {
        self.fall.linear_reference(time, self.floor)
    }
}
