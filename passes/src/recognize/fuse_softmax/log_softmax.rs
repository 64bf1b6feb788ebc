//! `(x - max(x)) - log(sum(exp(x - max(x))))`.

use super::parts::{dim, log_total, one_dim, shifted};
use crate::recognize::rewrite::{Rule, add, either, negate, subtract};

/// The logarithm of the sum of powers subtracted from what has the maximum subtracted.
pub(super) fn rule() -> Rule {
    let pattern = either([subtract(shifted(), log_total()), add(shifted(), negate(log_total()))]);
    Rule::new("log-softmax", "log_softmax", pattern).operand("x").when(one_dim).attributes(dim)
}
