//! `concatenate(x1 * cos - x2 * sin, x2 * cos + x1 * sin)` of the halves of `x`.

use super::parts::{pair_cosine, pair_sine, rope};
use crate::recognize::rewrite::{Pattern, Rule, Side, add, concatenate, half, multiply, subtract, tensor};

fn first() -> Pattern {
    half(Side::First, tensor("x"))
}

fn second() -> Pattern {
    half(Side::Second, tensor("x"))
}

fn sum(x: Pattern, y: Pattern) -> Pattern {
    add(multiply(x, pair_cosine()), multiply(y, pair_sine()))
}

fn difference(x: Pattern, y: Pattern) -> Pattern {
    subtract(multiply(x, pair_cosine()), multiply(y, pair_sine()))
}

/// Rotated by the angle.
pub(super) fn forward() -> Rule {
    rope("halves", false, concatenate([difference(first(), second()), sum(second(), first())]))
}

/// Rotated the other way.
pub(super) fn inverse() -> Rule {
    rope("halves-back", true, concatenate([sum(first(), second()), difference(second(), first())]))
}
