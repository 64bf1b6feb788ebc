//! Spellings of `silu` and `swiglu`.

use super::parts::{gated, gated_late, halved, weighed};
use crate::recognize::rewrite::{Rule, composite, either, multiply, near, tanh, tensor};

/// All of them.
pub(super) fn rules() -> [Rule; 3] {
    [silu(), silu_by_tanh(), swiglu()]
}

/// `x * logistic(x)`.
///
/// With the logistic function named or spelled out. Where `exp(-x)` overflows, a quotient is 0 and silu a number smaller
/// than a unit of roundoff of `x`.
fn silu() -> Rule {
    let pattern = gated(|| tensor("x"), || near(tensor("x"), "the logistic function is that of another tensor"));
    Rule::new("silu", "silu", pattern).operand("x")
}

/// `x/2 * (1 + tanh(x/2))`.
///
/// Equal to silu, but not in floating point: never taken.
fn silu_by_tanh() -> Rule {
    let x = || tensor("x");
    let pattern = weighed(x, || tanh(halved(x())));
    let cancels = "1 + tanh(x/2) cancels for negative x, where `silu` does not; write `x * logistic(x)`";
    Rule::new("silu-by-tanh", "silu", pattern).operand("x").never(cancels)
}

/// `silu(gate) * up`.
///
/// With `silu` named or spelled out.
fn swiglu() -> Rule {
    let gate = || tensor("gate");
    let silu = either([gated(gate, gate), composite("silu", [gate()])]);
    let pattern = either([multiply(silu, tensor("up")), gated_late(gate, tensor("up"))]);
    Rule::new("swiglu", "swiglu", pattern).operand("gate").operand("up")
}
