//! `x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2`.

use super::parts::{tanh_curve, weighed};
use crate::recognize::rewrite::{Rule, tensor};
use halite_ir::Attr;

/// The tanh form, halved anywhere before the last product.
pub(super) fn rule() -> Rule {
    let pattern = weighed(|| tensor("x"), tanh_curve);
    Rule::new("gelu-tanh", "gelu", pattern).operand("x").attributes(|_, _| vec![("tanh", Attr::Bool(true))])
}
