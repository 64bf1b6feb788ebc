//! `x - log(sum(exp(x)))`.

use super::parts::{bounded, dim, one_dim, total};
use crate::recognize::rewrite::{Rule, add, either, exponential, log, negate, subtract, tensor};

/// Without a maximum: of a bounded operand only.
pub(super) fn rule() -> Rule {
    let log_total = || log(total(exponential(tensor("x"))));
    let pattern = either([subtract(tensor("x"), log_total()), add(tensor("x"), negate(log_total()))]);
    Rule::new("unshifted-log-softmax", "log_softmax", pattern).operand("x").when(one_dim).when(bounded).attributes(dim)
}
