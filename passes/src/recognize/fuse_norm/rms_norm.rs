//! `x / sqrt(mean(x^2) + eps) * weight`.

use super::parts::{eps, mean, over_last, scaled, square};
use crate::recognize::rewrite::{Rule, multiply, near, tensor};

/// With the weight on either side. Where the weight meets `x` or the inverse first this is left alone: the product may
/// overflow although the result does not.
pub(super) fn rule() -> Rule {
    let x = || tensor("x");
    let squares = || near(square(x), "the mean is not that of the square of what is scaled");
    let pattern = multiply(scaled(x, || mean("square", squares)), tensor("weight"));
    Rule::new("rms-norm", "rms_norm", pattern).operand("x").vector("weight").when(over_last).attributes(eps)
}
