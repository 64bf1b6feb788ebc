//! Builtins that take numbers as well as tensors.

use super::{Binary, Bound, Unary};
use crate::ops::{Ops, Value, arithmetic};
use halite_support::{Diagnostic, Result, codes};

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

    /// As [`unary`](Self::unary) with a function that gives whole numbers.
    pub(super) fn rounded(&mut self, emit: Unary, number: fn(f64) -> f64, bound: &Bound<'_>) -> Result<Vec<Value>> {
        let (x, place) = bound.required(0);
        if matches!(x, Value::Int(..)) {
            return Ok(vec![x.clone()]);
        }
        let Value::Real(real) = x else { return self.unary(emit, number, bound) };
        let whole = number(*real);
        // Whole numbers of this size are exact in both types.
        if whole.abs() > (1i64 << 53) as f64 {
            let error = Diagnostic::error(codes::ARITHMETIC, format!("{real:?} is too large to be made whole"));
            return Err(place.mark(error, "here").help("choose a number of at most 2^53"));
        }
        Ok(vec![Value::int(whole as i64)])
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
