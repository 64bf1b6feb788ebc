//! The shape `cosine`.

use super::fall::Fall;
use crate::rule::Time;
use crate::shape::{BoundShape, ScheduleShape};
use halite_ir::{Builder, Value};
use halite_recipe::{Schedule, Section};
use halite_support::{Diagnostics, Result};
use std::f64::consts::PI;

static SECTION: Section = Section {
    name: Schedule::COSINE,
    about: "A cosine from the peak to the floor at update `steps`, then the floor. Without `steps` the peak for ever.",
    keys: &[],
    check: |_| Diagnostics::new(),
};

#[derive(Debug)]
pub(super) struct Cosine;

impl ScheduleShape for Cosine {
    fn section(&self) -> &'static Section {
        &SECTION
    }

    fn read(&self, schedule: &Schedule) -> Result<Box<dyn BoundShape>> {
        let fall = Fall { start: f64::from(schedule.warmup), end: f64::from(schedule.steps) };
        Ok(Box::new(Bound { fall: (schedule.steps > 0).then_some(fall), floor: schedule.floor }))
    }
}

#[derive(Debug)]
struct Bound {
    fall: Option<Fall>,
    floor: f64,
}

impl BoundShape for Bound {
    fn rate(&self, b: &mut Builder<'_>, time: Time, peak: f64) -> Result<Value> {
        let Some(fall) = self.fall else { return b.splat_like(time.real, peak) };
        let floor = peak * self.floor;
        let progress = fall.progress(b, time)?;
        let angle = b.multiply_scalar(progress, PI)?;
        let wave = b.cosine(angle)?;
        let wave = b.add_scalar(wave, 1.0)?;
        let above = b.multiply_scalar(wave, (peak - floor) / 2.0)?;
        b.add_scalar(above, floor)
    }

    fn reference(&self, time: f64) -> f64 {
        let Some(fall) = self.fall else { return 1.0 };
        self.floor + (1.0 - self.floor) * (1.0 + (PI * fall.reference(time)).cos()) / 2.0
    }
}
