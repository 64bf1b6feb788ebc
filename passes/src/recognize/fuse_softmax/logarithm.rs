//! Spellings of `log_softmax`.

use super::parts::{Peak, bounded, dim, log_total, normalized, one_dim, peak, shifted, total};
use crate::recognize::rewrite::{
    Bindings, MatchCx, MatchResult, Rule, add, either, exponential, log, negate, subtract, tensor,
};

/// All of them.
pub(super) fn rules() -> [Rule; 4] {
    [log_softmax(), log_sum_exp(), log_of_softmax(), unshifted()]
}

/// `(x - max(x)) - log(sum(exp(x - max(x))))`.
///
/// The logarithm of the sum of powers subtracted from what has the maximum subtracted.
fn log_softmax() -> Rule {
    let pattern = Peak::each(|peak| {
        either([subtract(shifted(peak), log_total(peak)), add(shifted(peak), negate(log_total(peak)))])
    });
    Rule::new("log-softmax", "log_softmax", pattern).operand("x").when(one_dim).attributes(dim)
}

/// `x - (max(x) + log(sum(exp(x - max(x)))))`.
///
/// The logarithm of the sum of powers, with the maximum added back, subtracted from `x`. The composite, which does not add
/// the maximum, is at least as close to the exact result.
fn log_sum_exp() -> Rule {
    let pattern = Peak::each(|kind| {
        let log_sum_exp = || add(log_total(kind), peak(kind));
        either([
            subtract(tensor("x"), log_sum_exp()),
            add(tensor("x"), negate(log_sum_exp())),
            subtract(subtract(tensor("x"), log_total(kind)), peak(kind)),
        ])
    });
    Rule::new("log-sum-exp", "log_softmax", pattern).operand("x").when(one_dim).attributes(dim)
}

/// `log(exp(x - max(x)) / sum(exp(x - max(x))))`.
///
/// The logarithm of a softmax: of a bounded operand only, because a softmax that vanishes has no finite logarithm.
fn log_of_softmax() -> Rule {
    let shifted = Peak::each(|peak| normalized(|| exponential(shifted(peak))));
    let pattern = log(either([shifted, normalized(|| exponential(tensor("x")))]));
    Rule::new("log-of-softmax", "log_softmax", pattern).operand("x").when(one_dim).when(does_not_vanish).attributes(dim)
}

fn does_not_vanish(bindings: &Bindings, cx: &MatchCx<'_>) -> MatchResult {
    let vanishes =
        || "softmax vanishes where its logarithm does not, and the operand is not known to stay away".to_owned();
    bounded(bindings, cx).map_err(|_| vanishes())
}

/// `x - log(sum(exp(x)))`.
///
/// Without a maximum: of a bounded operand only.
fn unshifted() -> Rule {
    let log_total = || log(total(exponential(tensor("x"))));
    let pattern = either([subtract(tensor("x"), log_total()), add(tensor("x"), negate(log_total()))]);
    Rule::new("unshifted-log-softmax", "log_softmax", pattern).operand("x").when(one_dim).when(bounded).attributes(dim)
}
