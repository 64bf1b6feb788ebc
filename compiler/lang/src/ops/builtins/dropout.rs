//! `dropout`.

use super::Bound;
use crate::ops::{Ops, Value};
use halite_ir::composites::dropout::RATE;
use halite_support::{Diagnostic, Result, codes};

/// A rate of 0 adds nothing.
pub(super) fn dropout(cx: &mut Ops<'_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let x = cx.tensor_of(bound.required(0))?;
    let (value, place) = bound.required(1);
    let rate = value.as_real().ok_or_else(|| cx.wrong_kind("a number", value, place))?;
    if !(0.0..1.0).contains(&rate) {
        let error = Diagnostic::error(codes::ATTRIBUTE, format!("the rate of a dropout is {rate}"));
        return Err(place
            .blame(&cx.b, place.mark(error, "from 0 and below 1"))
            .help("choose a rate from 0 and below 1"));
    }
    if rate == 0.0 {
        return Ok(vec![Value::Tensor(x)]);
    }
    let dropped = cx.emit_tensor(bound.whole, |b| Ok(b.composite("dropout", &[RATE.to(rate)], &[x])?[0]))?;
    Ok(vec![dropped])
}
