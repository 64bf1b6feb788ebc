//! The learning rate of one update.

use super::rule::Time;
use halite_ir::ops::Direction;
use halite_ir::{Builder, Value};
use halite_recipe::Schedule;
use halite_support::Result;
use std::f64::consts::PI;

/// The learning rate of update `time`, a float scalar: `peak * k / warmup` up to update `warmup`, then a cosine from
/// `peak` to `floor * peak` at update `steps`, then the floor. Without `steps` it stays at the peak.
pub(super) fn learning_rate(b: &mut Builder<'_>, time: Time, peak: f64, schedule: &Schedule) -> Result<Value> {
    let (warmup, steps) = (f64::from(schedule.warmup), f64::from(schedule.steps));
    let after = if schedule.steps > 0 {
        cosine(b, time, warmup, steps, peak, peak * schedule.floor)?
    } else {
        b.splat_like(time.real, peak)?
    };
    if schedule.warmup == 0 {
        return Ok(after);
    }
    let scaled = b.multiply_scalar(time.real, peak)?;
    let length = b.splat_like(time.real, warmup)?;
    let rising = b.divide(scaled, length)?;
    let within = b.compare(time.real, length, Direction::Le)?;
    b.select(within, rising, after)
}

fn cosine(b: &mut Builder<'_>, time: Time, warmup: f64, steps: f64, peak: f64, floor: f64) -> Result<Value> {
    let since = b.add_scalar(time.real, -warmup)?;
    let length = b.splat_like(since, (steps - warmup).max(1.0))?;
    let progress = b.divide(since, length)?;
    let zero = b.splat_like(progress, 0.0)?;
    let one = b.splat_like(progress, 1.0)?;
    let progress = b.clamp(zero, progress, one)?;
    let angle = b.multiply_scalar(progress, PI)?;
    let wave = b.cosine(angle)?;
    let wave = b.add_scalar(wave, 1.0)?;
    let above = b.multiply_scalar(wave, (peak - floor) / 2.0)?;
    b.add_scalar(above, floor)
}
