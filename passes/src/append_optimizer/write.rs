//! What every update rule shares: scaling by a scalar of the graph, and writing a weight.

use super::Weight;
use halite_ir::{Builder, Value};
use halite_support::Result;

/// A tensor times a scalar value of the graph.
pub(super) fn scaled(b: &mut Builder<'_>, x: Value, scalar: Value) -> Result<Value> {
    let scalar = b.convert(scalar, b.dtype(x))?;
    let shape = b.shape(x).clone();
    let factor = b.broadcast_in_dim(scalar, &[], shape)?;
    b.multiply(x, factor)
}

/// `w' = w - (step + rate * decay * w)`: the weight after a step, with decoupled weight decay.
///
/// The decay is added to the step before it is subtracted: `w * (1 - rate * decay)` would round to `w` at warm-up rates.
pub(super) fn written(b: &mut Builder<'_>, weight: &Weight, mut step: Value, rate: Value) -> Result<Value> {
    if weight.decay != 0.0 {
        let rate = b.multiply_scalar(rate, weight.decay)?;
        let decay = scaled(b, weight.value, rate)?;
        step = b.add(step, decay)?;
    }
    b.subtract(weight.value, step)
}
