//! `(x - mean(x)) / sqrt(mean((x - mean(x))^2) + eps) * weight + bias`.

use super::parts::{self, eps, mean, over_last, scaled, square, weight_leaves_room};
use crate::recognize::rewrite::{Pattern, Rule, add, either, is, maximum, multiply, near, negate, subtract, tensor};

/// All of them.
pub(super) fn rules() -> [Rule; 2] {
    [layer_norm(), weight_first()]
}

fn center() -> Pattern {
    mean("mean", || near(tensor("x"), "the mean is that of another tensor, or is repeated along another dimension"))
}

fn centered() -> Pattern {
    either([subtract(tensor("x"), center()), add(tensor("x"), negate(center()))])
}

/// Of what is centered; or of the moments where that is not below 0, which is off by units of roundoff of `mean(x^2)`: the composite is
/// closer to the exact result.
fn variance() -> Pattern {
    let centered = || mean("square", || square(centered));
    let moments = subtract(mean("square", || square(|| tensor("x"))), square(center));
    let spelled = either([centered(), maximum(either([centered(), moments]), is(0.0))]);
    near(spelled, "the variance is not the mean square of what is centered")
}

/// With weight and bias on either side.
fn layer_norm() -> Rule {
    let pattern = add(multiply(scaled(centered, variance), tensor("weight")), tensor("bias"));
    let rule = Rule::new("layer-norm", "layer_norm", pattern);
    rule.operand("x").vector("weight").vector("bias").when(over_last).attributes(eps)
}

/// `(x - mean(x)) * (weight / sqrt(..)) + bias`.
fn weight_first() -> Rule {
    let pattern = add(parts::weight_first(centered, variance), tensor("bias"));
    let rule = Rule::new("layer-norm-weight-first", "layer_norm", pattern).operand("x").vector("weight").vector("bias");
    rule.when(over_last).when(weight_leaves_room).attributes(eps)
}
