//! `log(exp(x - max(x)) / sum(exp(x - max(x))))`.

use super::parts::{bounded, dim, normalized, one_dim, shifted};
use crate::recognize::rewrite::{Bindings, MatchCx, MatchResult, Rule, either, exponential, log, tensor};

/// The logarithm of a softmax: of a bounded operand only, because a softmax that vanishes has no finite logarithm.
pub(super) fn rule() -> Rule {
    let pattern = log(either([normalized(|| exponential(shifted())), normalized(|| exponential(tensor("x")))]));
    Rule::new("log-of-softmax", "log_softmax", pattern).operand("x").when(one_dim).when(does_not_vanish).attributes(dim)
}

fn does_not_vanish(bindings: &Bindings, cx: &MatchCx<'_>) -> MatchResult {
    let vanishes =
        || "softmax vanishes where its logarithm does not, and the operand is not known to stay away".to_owned();
    bounded(bindings, cx).map_err(|_| vanishes())
}
