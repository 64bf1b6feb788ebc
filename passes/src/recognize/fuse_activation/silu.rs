//! `x * logistic(x)`.

use super::parts::gated;
use crate::recognize::rewrite::{Rule, near, tensor};

/// With the logistic function named or spelled out. Where `exp(-x)` overflows, a quotient is 0 and silu a number smaller
/// than a unit of roundoff of `x`.
pub(super) fn rule() -> Rule {
    let pattern = gated(|| tensor("x"), || near(tensor("x"), "the logistic function is that of another tensor"));
    Rule::new("silu", "silu", pattern).operand("x")
}
