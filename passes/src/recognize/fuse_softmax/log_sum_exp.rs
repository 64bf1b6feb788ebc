//! `x - (max(x) + log(sum(exp(x - max(x)))))`.

use super::parts::{dim, log_total, one_dim, peak};
use crate::recognize::rewrite::{Rule, add, either, negate, subtract, tensor};

/// The logarithm of the sum of powers, with the maximum added back, subtracted from `x`. The composite, which does not add
/// the maximum, is at least as close to the exact result.
pub(super) fn rule() -> Rule {
    let log_sum_exp = || add(log_total(), peak());
    let pattern = either([
        subtract(tensor("x"), log_sum_exp()),
        add(tensor("x"), negate(log_sum_exp())),
        subtract(subtract(tensor("x"), log_total()), peak()),
    ]);
    Rule::new("log-sum-exp", "log_softmax", pattern).operand("x").when(one_dim).attributes(dim)
}
