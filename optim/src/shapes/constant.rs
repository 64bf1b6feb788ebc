//! The shape `constant`.

use crate::rule::Time;
use crate::shape::{BoundShape, ScheduleShape};
use halite_ir::{Builder, Value};
use halite_recipe::{Schedule, Section};
use halite_support::{Diagnostics, Result};

static SECTION: Section =
    Section { name: "constant", about: "The peak for ever.", keys: &[], check: |_| Diagnostics::new() };

#[derive(Debug)]
pub(super) struct Constant;

impl ScheduleShape for Constant {
    fn section(&self) -> &'static Section {
        &SECTION
    }

    fn read(&self, _: &Schedule) -> Result<Box<dyn BoundShape>> {
        Ok(Box::new(Self))
    }
}

impl BoundShape for Constant {
    fn rate(&self, b: &mut Builder<'_>, time: Time, peak: f64) -> Result<Value> {
        b.splat_like(time.real, peak)
    }

    fn reference(&self, _: f64) -> f64 {
        1.0
    }
}
