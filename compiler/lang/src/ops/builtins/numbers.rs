//! Builtins that take numbers as well as tensors.

use super::{Binary, Bound, Unary};
use crate::ops::{Ops, Value, arithmetic};
use halite_support::Result;

impl Ops<'_> {
    pub(super) fn unary(&mut self, emit: Unary, number: fn(f64) -> f64, bound: &Bound<'_>) -> Result<Vec<Value>> {
        let (x, place) = bound.required(0);
        if let Value::Tensor(tensor) = x {
            return self.emit_tensor(bound.whole, |b| emit(b, *tensor)).map(|value| vec![value]);
        }
        match x.as_real() {
            Some(x) => to_number(number(x), bound),
            None => Err(self.wrong_kind("a number or a tensor", x, place)),
        }
    }

    pub(super) fn pairwise(
        &mut self,
        emit: Binary,
        number: fn(f64, f64) -> f64,
        whole: fn(i64, i64) -> Option<i64>,
        bound: &Bound<'_>,
    ) -> Result<Vec<Value>> {
        let (left, right) = (bound.required(0), bound.required(1));
        if let (Value::Int(x, _), Value::Int(y, _)) = (left.0, right.0)
            && let Some(value) = whole(*x, *y)
        {
            return Ok(vec![Value::int(value)]);
        }
        if let (Some(x), Some(y)) = (left.0.as_real(), right.0.as_real()) {
            return to_number(number(x, y), bound);
        }
        let (x, y) = self.operands(left, right, bound.whole)?;
        self.emit_tensor(bound.whole, |b| emit(b, x, y)).map(|value| vec![value])
    }
}

fn to_number(value: f64, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let value = arithmetic::finite(value).map_err(|error| bound.whole.mark(error, "here"))?;
    Ok(vec![value])
}

/// The power of whole numbers when that is whole too.
pub(super) fn whole_power(x: i64, y: i64) -> Option<i64> {
    x.checked_pow(u32::try_from(y).ok()?)
}
