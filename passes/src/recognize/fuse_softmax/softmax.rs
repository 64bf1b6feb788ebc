//! Spellings of `softmax`.

use super::parts::{Peak, bounded, dim, log_total, normalized, one_dim, shifted};
use crate::recognize::rewrite::{Rule, exponential, subtract, tensor};

/// All of them.
pub(super) fn rules() -> [Rule; 3] {
    [softmax(), unshifted(), exp_of_log()]
}

/// `exp(x - max(x)) / sum(exp(x - max(x)))`.
///
/// Divided by the sum, or multiplied by its reciprocal.
fn softmax() -> Rule {
    let pattern = Peak::each(|peak| normalized(|| exponential(shifted(peak))));
    Rule::new("softmax", "softmax", pattern).operand("x").when(one_dim).attributes(dim)
}

/// `exp(x) / sum(exp(x))`.
///
/// Without a maximum: of a bounded operand only.
fn unshifted() -> Rule {
    let pattern = normalized(|| exponential(tensor("x")));
    Rule::new("unshifted-softmax", "softmax", pattern).operand("x").when(one_dim).when(bounded).attributes(dim)
}

/// `exp((x - max(x)) - log(sum(exp(x - max(x)))))`.
///
/// The exponential of a logarithmic softmax. Where the maximum is added back first this is left alone: the exponential
/// would turn the rounding of a large maximum into as many units of roundoff.
fn exp_of_log() -> Rule {
    let pattern = Peak::each(|peak| exponential(subtract(shifted(peak), log_total(peak))));
    Rule::new("exp-of-log-softmax", "softmax", pattern).operand("x").when(one_dim).attributes(dim)
}
