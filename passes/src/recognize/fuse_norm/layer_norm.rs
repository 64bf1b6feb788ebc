//! `(x - mean(x)) / sqrt(mean((x - mean(x))^2) + eps) * weight + bias`.

use super::parts::{eps, mean, over_last, scaled, square};
use crate::recognize::rewrite::{Rule, add, either, multiply, near, negate, subtract, tensor};

/// With weight and bias on either side.
pub(super) fn rule() -> Rule {
    let x = || tensor("x");
    let of_x = || near(x(), "the mean is that of another tensor, or is repeated along another dimension");
    let centered = || {
        let center = || mean("mean", of_x);
        either([subtract(x(), center()), add(x(), negate(center()))])
    };
    let variance =
        || near(mean("square", || square(centered)), "the variance is not the mean square of what is centered");
    let pattern = add(multiply(scaled(centered, variance), tensor("weight")), tensor("bias"));
    let rule = Rule::new("layer-norm", "layer_norm", pattern);
    rule.operand("x").vector("weight").vector("bias").when(over_last).attributes(eps)
}
