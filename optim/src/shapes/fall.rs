//! Parts of the shapes that fall to a floor.

use crate::rule::Time;
use crate::shape::BoundShape;
use halite_ir::{Builder, Value};
use halite_recipe::{Recipe, Schedule};
use halite_support::{Diagnostic, Diagnostics, Result, codes};

/// The update at which a fall starts and the one at which it ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fall {
    pub(super) start: f64,
    pub(super) end: f64,
}

impl Fall {
    fn length(self) -> f64 {
        (self.end - self.start).max(1.0)
    }

    /// From 0 at the start to 1 at the end, constant before and after.
    pub(super) fn progress(self, b: &mut Builder<'_>, time: Time) -> Result<Value> {
        let since = b.add_scalar(time.real, -self.start)?;
        let length = b.splat_like(since, self.length())?;
        let progress = b.divide(since, length)?;
        let zero = b.splat_like(progress, 0.0)?;
        let one = b.splat_like(progress, 1.0)?;
        b.clamp(zero, progress, one)
    }

    /// As [`progress`](Self::progress), in `f64`.
    pub(super) fn reference(self, time: f64) -> f64 {
        ((time - self.start) / self.length()).clamp(0.0, 1.0)
    }
}

/// A straight line from the peak to the floor, a share of it; before and after, these.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) fall: Fall,
    pub(super) floor: f64,
}

impl BoundShape for Line {
    fn rate(&self, b: &mut Builder<'_>, time: Time, peak: f64) -> Result<Value> {
        let progress = self.fall.progress(b, time)?;
        let fallen = b.multiply_scalar(progress, peak * self.floor - peak)?;
        b.add_scalar(fallen, peak)
    }

    fn reference(&self, time: f64) -> f64 {
        1.0 - self.fall.reference(time) * (1.0 - self.floor)
    }
}

/// The error of a schedule of this shape that ends before it has fallen, which takes `decay` updates at least.
pub(super) fn check(recipe: &Recipe, shape: &str, decay: u32) -> Diagnostics {
    let Schedule { warmup, steps, shape: stated, .. } = &recipe.schedule;
    if stated != shape || u64::from(*steps) >= u64::from(*warmup) + u64::from(decay) {
        return Diagnostics::new();
    }
    let message =
        format!("`schedule.steps` is {steps}, which leaves less than {decay} updates after `schedule.warmup`");
    let error = Diagnostic::error(codes::RECIPE_CLASH, message).key("schedule.steps");
    error.note(format!("the shape `{shape}` falls until update `steps`")).help("choose more `steps`").into()
}
