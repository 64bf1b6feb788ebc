//! The learning rate of one update.

use halite_ir::ops::Direction;
use halite_ir::{Builder, Value};
use halite_optim::BoundShape;
use halite_optim::Time;
use halite_support::Result;

/// The learning rate of update `time`, a float scalar: `peak * k / warmup` up to update `warmup`, then what the shape says.
pub(super) fn learning_rate(
    b: &mut Builder<'_>,
    time: Time,
    peak: f64,
    warmup: u32,
    shape: &dyn BoundShape,
) -> Result<Value> {
    let after = shape.rate(b, time, peak)?;
    if warmup == 0 {
        return Ok(after);
    }
    let scaled = b.multiply_scalar(time.real, peak)?;
    let length = b.splat_like(time.real, f64::from(warmup))?;
    let rising = b.divide(scaled, length)?;
    let within = b.compare(time.real, length, Direction::Le)?;
    b.select(within, rising, after)
}
