//! The shape `inverse_sqrt`.

use crate::rule::Time;
use crate::shape::{BoundShape, ScheduleShape};
use halite_ir::{Builder, Value};
use halite_recipe::{Schedule, Section};
use halite_support::{Diagnostics, Result};

static SECTION: Section = Section {
    name: "inverse_sqrt",
    about: "The peak times the root of `warmup / update`, as of Vaswani et al. 2017; without warm-up that of `1 / update`.",
    keys: &[],
    check: |_| Diagnostics::new(),
};

#[derive(Debug)]
pub(super) struct InverseSqrt;

impl ScheduleShape for InverseSqrt {
    fn section(&self) -> &'static Section {
        &SECTION
    }

    fn read(&self, schedule: &Schedule) -> Result<Box<dyn BoundShape>> {
        Ok(Box::new(Bound { start: f64::from(schedule.warmup.max(1)) }))
    }
}

#[derive(Debug)]
struct Bound {
    /// The update of the peak.
    start: f64,
}

impl BoundShape for Bound {
    fn rate(&self, b: &mut Builder<'_>, time: Time, peak: f64) -> Result<Value> {
        let root = b.rsqrt(time.real)?;
        b.multiply_scalar(root, peak * self.start.sqrt())
    }

    fn reference(&self, time: f64) -> f64 {
        (self.start / time).sqrt()
    }
}
