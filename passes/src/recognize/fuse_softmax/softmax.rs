//! `exp(x - max(x)) / sum(exp(x - max(x)))`.

use super::parts::{dim, normalized, one_dim, shifted};
use crate::recognize::rewrite::{Rule, exponential};

/// Divided by the sum, or multiplied by its reciprocal.
pub(super) fn rule() -> Rule {
    let pattern = normalized(|| exponential(shifted()));
    Rule::new("softmax", "softmax", pattern).operand("x").when(one_dim).attributes(dim)
}
