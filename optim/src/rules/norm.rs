//! Norms of tensors, for rules that look at a weight as a whole.

use halite_ir::ops::Direction;
use halite_ir::{Builder, Value};
use halite_support::Result;

/// The Euclidean norm of all elements, a scalar of the type of `x`.
pub(super) fn norm(b: &mut Builder<'_>, x: Value) -> Result<Value> {
    let square = b.multiply(x, x)?;
    let dims: Vec<usize> = (0..b.ty(x).rank()).collect();
    let sum = b.reduce_sum(square, &dims)?;
    b.sqrt(sum)
}

/// `x / y` of two scalars, 1 where either is 0.
pub(super) fn ratio(b: &mut Builder<'_>, x: Value, y: Value) -> Result<Value> {
    let (zero, one) = (b.splat_like(x, 0.0)?, b.splat_like(x, 1.0)?);
    let least = b.minimum(x, y)?;
    let is_zero = b.compare(least, zero, Direction::Eq)?;
    let ratio = b.divide(x, y)?;
    b.select(is_zero, one, ratio)
}

/// As [`norm`], in `f64`.
pub(super) fn reference(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// As [`ratio`], in `f64`.
pub(super) fn reference_ratio(x: f64, y: f64) -> f64 {
    if x.min(y) == 0.0 { 1.0 } else { x / y }
}
