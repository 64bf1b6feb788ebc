//! `(x * (1 + erf(x / sqrt(2)))) / 2`.

use super::parts::{exact_curve, halved, tanh_curve};
use crate::recognize::rewrite::{Rule, add, either, is, multiply, tensor};

/// Halved last: never taken.
pub(super) fn rule() -> Rule {
    let doubled = add(either([exact_curve(), tanh_curve()]), is(1.0));
    let overflows = "the product overflows for the largest numbers, where `gelu` does not; halve one factor instead";
    Rule::new("gelu-halved-last", "gelu", halved(multiply(tensor("x"), doubled))).operand("x").never(overflows)
}
