//! `exp(x) / sum(exp(x))`.

use super::parts::{bounded, dim, normalized, one_dim};
use crate::recognize::rewrite::{Rule, exponential, tensor};

/// Without a maximum: of a bounded operand only.
pub(super) fn rule() -> Rule {
    let pattern = normalized(|| exponential(tensor("x")));
    Rule::new("unshifted-softmax", "softmax", pattern).operand("x").when(one_dim).when(bounded).attributes(dim)
}
