//! `x / sqrt(mean(x^2) + eps) * weight`.

use super::parts::{self, eps, mean, over_last, scaled, square, weight_leaves_room};
use crate::recognize::rewrite::{Pattern, Rule, multiply, near, tensor};

/// All of them.
pub(super) fn rules() -> [Rule; 2] {
    [rms_norm(), weight_first()]
}

fn x() -> Pattern {
    tensor("x")
}

fn mean_square() -> Pattern {
    mean("square", || near(square(x), "the mean is not that of the square of what is scaled"))
}

/// With the weight on either side.
fn rms_norm() -> Rule {
    let pattern = multiply(scaled(x, mean_square), tensor("weight"));
    Rule::new("rms-norm", "rms_norm", pattern).operand("x").vector("weight").when(over_last).attributes(eps)
}

/// `x * (weight / sqrt(mean(x^2) + eps))`. Where the weight meets `x` first this is left alone: the product may overflow although
/// the result does not.
fn weight_first() -> Rule {
    let rule = Rule::new("rms-norm-weight-first", "rms_norm", parts::weight_first(x, mean_square));
    rule.operand("x").vector("weight").when(over_last).when(weight_leaves_room).attributes(eps)
}
