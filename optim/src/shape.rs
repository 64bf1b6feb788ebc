//! Shapes of schedules.

use crate::rule::Time;
use halite_ir::{Builder, Value};
use halite_recipe::{Schedule, Section};
use halite_support::Result;
use std::fmt;

/// A shape of schedules: the learning rate after its warm-up. `schedule.shape` of a recipe chooses one.
/// [`ScheduleShapes`](super::shapes::ScheduleShapes) has those of a session.
pub trait ScheduleShape: fmt::Debug + Send + Sync {
    /// Its name, the settings of its own in `[schedule]`, and what is wrong with these.
    fn section(&self) -> &'static Section;

    /// The shape with its settings.
    ///
    /// # Errors
    /// When they are no settings of it.
    fn read(&self, schedule: &Schedule) -> Result<Box<dyn BoundShape>>;
}

/// A shape of schedules with its settings.
pub trait BoundShape: fmt::Debug {
    /// The learning rate of update `time` after the warm-up, a scalar of the type of `time.real`. Its value for earlier updates does
    /// not matter.
    ///
    /// # Errors
    /// Those of the builder, which are bugs.
    fn rate(&self, b: &mut Builder<'_>, time: Time, peak: f64) -> Result<Value>;

    /// The same as a share of the peak, in plain `f64`, which tests compare with `rate`. `time` counts updates from 1.
    fn reference(&self, time: f64) -> f64;
}
