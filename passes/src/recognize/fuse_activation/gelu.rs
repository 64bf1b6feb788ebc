//! Spellings of `gelu`.

use super::parts::{exact_curve, halved, negated_curve, tanh_curve, weighed};
use crate::recognize::rewrite::{Rule, add, either, is, multiply, tensor};
use halite_ir::Attr;

/// All of them.
pub(super) fn rules() -> [Rule; 4] {
    [exact(), by_erfc(), by_tanh(), halved_last()]
}

/// `x * (1 + erf(x / sqrt(2))) / 2`.
///
/// The exact form, halved anywhere before the last product.
fn exact() -> Rule {
    Rule::new("gelu", "gelu", weighed(|| tensor("x"), exact_curve)).operand("x")
}

/// `x * erfc(-x / sqrt(2)) / 2`.
///
/// The exact form as JAX spells it: below -5, where both are almost 0, `gelu` has fewer digits of it.
fn by_erfc() -> Rule {
    let pattern =
        either([multiply(halved(tensor("x")), negated_curve()), multiply(tensor("x"), halved(negated_curve()))]);
    Rule::new("gelu-erfc", "gelu", pattern).operand("x")
}

/// `x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2`.
///
/// The tanh form, halved anywhere before the last product.
fn by_tanh() -> Rule {
    let pattern = weighed(|| tensor("x"), tanh_curve);
    Rule::new("gelu-tanh", "gelu", pattern).operand("x").attributes(|_, _| vec![("tanh", Attr::Bool(true))])
}

/// `(x * (1 + erf(x / sqrt(2)))) / 2`.
///
/// Halved last: never taken.
fn halved_last() -> Rule {
    let doubled = add(either([exact_curve(), tanh_curve()]), is(1.0));
    let overflows = "the product overflows for the largest numbers, where `gelu` does not; halve one factor instead";
    Rule::new("gelu-halved-last", "gelu", halved(multiply(tensor("x"), doubled))).operand("x").never(overflows)
}
