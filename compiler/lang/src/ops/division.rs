//! Division that rounds down and what it leaves, of numbers and of tensors alike: what is left has the sign of the divisor, as in
//! Python, NumPy and JAX.

use halite_ir::ops::Direction;
use halite_ir::{Builder, Value as Tensor};
use halite_support::Result;

/// The greatest whole number that is not above `x / y`; `None` where that does not fit or `y` is 0.
pub(super) fn floor_divide(x: i64, y: i64) -> Option<i64> {
    let quotient = x.checked_div(y)?;
    Some(if leaves(x % y, y) { quotient - 1 } else { quotient })
}

/// `x` less the multiple of `y` that [`floor_divide`] makes of it.
pub(super) fn remainder(x: i64, y: i64) -> Option<i64> {
    let rest = x.checked_rem(y)?;
    Some(if leaves(rest, y) { rest + y } else { rest })
}

/// Whether the remainder of a division towards zero has another sign than the divisor.
fn leaves(rest: i64, y: i64) -> bool {
    rest != 0 && (rest < 0) != (y < 0)
}

pub(super) fn real_remainder(x: f64, y: f64) -> f64 {
    let rest = x % y;
    if rest != 0.0 && (rest < 0.0) != (y < 0.0) { rest + y } else { rest }
}

/// `x % y` of two tensors of one shape and type.
pub(super) fn tensor_remainder(b: &mut Builder<'_>, x: Tensor, y: Tensor) -> Result<Tensor> {
    let rest = b.remainder(x, y)?;
    if b.dtype(x).is_unsigned_int() {
        return Ok(rest);
    }
    let crosses = crosses(b, rest, y)?;
    let moved = b.add(rest, y)?;
    b.select(crosses, moved, rest)
}

/// The whole numbers below `x / y`, of two tensors of one shape and type.
pub(super) fn tensor_floor_divide(b: &mut Builder<'_>, x: Tensor, y: Tensor) -> Result<Tensor> {
    let quotient = b.divide(x, y)?;
    if b.dtype(x).is_float() {
        return b.floor(quotient);
    }
    if b.dtype(x).is_unsigned_int() {
        return Ok(quotient);
    }
    let rest = b.remainder(x, y)?;
    let crosses = crosses(b, rest, y)?;
    let one = b.splat_like(quotient, 1.0)?;
    let below = b.subtract(quotient, one)?;
    b.select(crosses, below, quotient)
}

/// The predicate that the remainder of a division towards zero has another sign than the divisor; for a constant divisor above 0, that
/// it is negative.
fn crosses(b: &mut Builder<'_>, rest: Tensor, y: Tensor) -> Result<Tensor> {
    let zero = b.splat_like(rest, 0.0)?;
    let negative = b.compare(rest, zero, Direction::Lt)?;
    if constant(b, y).is_some_and(|y| y > 0.0) {
        return Ok(negative);
    }
    let divisor = b.compare(y, zero, Direction::Lt)?;
    let unlike = b.xor(negative, divisor)?;
    let left = b.compare(rest, zero, Direction::Ne)?;
    b.and(left, unlike)
}

/// The number that each element of a constant is.
fn constant(b: &Builder<'_>, x: Tensor) -> Option<f64> {
    match &b.function().def(x)?.op {
        halite_ir::Op::Constant(constant) => constant.splat_value(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_has_the_sign_of_the_divisor() {
        for (x, y, quotient, rest) in [(7, 3, 2, 1), (-7, 3, -3, 2), (7, -3, -3, -2), (-7, -3, 2, -1), (-6, 3, -2, 0)] {
            assert_eq!((floor_divide(x, y), remainder(x, y)), (Some(quotient), Some(rest)), "{x} {y}");
            assert_eq!(real_remainder(x as f64, y as f64), rest as f64, "{x} {y}");
        }
        assert_eq!((floor_divide(1, 0), remainder(1, 0), floor_divide(i64::MIN, -1)), (None, None, None));
    }
}
