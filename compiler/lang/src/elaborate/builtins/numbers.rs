//! Builtins that take numbers as well as tensors.

use super::Bound;
use crate::elaborate::value::Value;
use crate::elaborate::{Elaborator, Eval, arithmetic};

impl Elaborator<'_, '_> {
    pub(super) fn unary(&mut self, primitive: &str, number: fn(f64) -> f64, bound: &Bound<'_>) -> Eval<Vec<Value>> {
        let (x, at) = bound.required(0);
        if let Value::Tensor(tensor) = x {
            return self.primitive(primitive, &[*tensor], bound.span).map(|value| vec![value]);
        }
        match x.as_real() {
            Some(x) => self.number(number(x), bound),
            None => Err(self.wrong_kind("a number or a tensor", x, at)),
        }
    }

    pub(super) fn pairwise(
        &mut self,
        primitive: &str,
        number: fn(f64, f64) -> f64,
        bound: &Bound<'_>,
    ) -> Eval<Vec<Value>> {
        let (left, right) = (bound.required(0), bound.required(1));
        if let (Value::Int(x), Value::Int(y)) = (left.0, right.0)
            && let Some(value) = whole(primitive, *x, *y)
        {
            return Ok(vec![Value::Int(value)]);
        }
        if let (Some(x), Some(y)) = (left.0.as_real(), right.0.as_real()) {
            return self.number(number(x, y), bound);
        }
        let (x, y) = self.operands(left, right, bound.span)?;
        self.primitive(primitive, &[x, y], bound.span).map(|value| vec![value])
    }

    fn number(&mut self, value: f64, bound: &Bound<'_>) -> Eval<Vec<Value>> {
        let value = arithmetic::finite(value).map_err(|error| self.report(error.at(bound.span, "here")))?;
        Ok(vec![value])
    }
}

/// The result on whole numbers when that is whole too.
fn whole(primitive: &str, x: i64, y: i64) -> Option<i64> {
    match primitive {
        "maximum" => Some(x.max(y)),
        "minimum" => Some(x.min(y)),
        "power" => x.checked_pow(u32::try_from(y).ok()?),
        _ => None,
    }
}
