//! `silu(gate) * up`.

use super::parts::{gated, gated_late};
use crate::recognize::rewrite::{Rule, composite, either, multiply, tensor};

/// With `silu` named or spelled out.
pub(super) fn rule() -> Rule {
    let gate = || tensor("gate");
    let silu = either([gated(gate, gate), composite("silu", [gate()])]);
    let pattern = either([multiply(silu, tensor("up")), gated_late(gate, tensor("up"))]);
    Rule::new("swiglu", "swiglu", pattern).operand("gate").operand("up")
}
