//! `x * (1 + erf(x / sqrt(2))) / 2`.

use super::parts::{exact_curve, weighed};
use crate::recognize::rewrite::{Rule, tensor};

/// The exact form, halved anywhere before the last product.
pub(super) fn rule() -> Rule {
    Rule::new("gelu", "gelu", weighed(|| tensor("x"), exact_curve)).operand("x")
}
