//! `exp((x - max(x)) - log(sum(exp(x - max(x)))))`.

use super::parts::{dim, log_total, one_dim, shifted};
use crate::recognize::rewrite::{Rule, exponential, subtract};

/// The exponential of a logarithmic softmax. Where the maximum is added back first this is left alone: the exponential
/// would turn the rounding of a large maximum into as many units of roundoff.
pub(super) fn rule() -> Rule {
    let pattern = exponential(subtract(shifted(), log_total()));
    Rule::new("exp-of-log-softmax", "softmax", pattern).operand("x").when(one_dim).attributes(dim)
}
