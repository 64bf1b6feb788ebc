//! `x/2 * (1 + tanh(x/2))`.

use super::parts::{halved, weighed};
use crate::recognize::rewrite::{Rule, tanh, tensor};

/// Equal to silu, but not in floating point: never taken.
pub(super) fn rule() -> Rule {
    let x = || tensor("x");
    let pattern = weighed(x, || tanh(halved(x())));
    let cancels = "1 + tanh(x/2) cancels for negative x, where `silu` does not; write `x * logistic(x)`";
    Rule::new("silu-by-tanh", "silu", pattern).operand("x").never(cancels)
}
