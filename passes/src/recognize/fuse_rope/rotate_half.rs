//! `x * cos + rotate_half(x) * sin`, as in Hugging Face's Llama.

use super::parts::{element_cosine, element_sine, rope};
use crate::recognize::rewrite::{
    Pattern, Rule, Side, add, concatenate, either, half, multiply, negate, subtract, tensor,
};

fn first() -> Pattern {
    half(Side::First, tensor("x"))
}

fn second() -> Pattern {
    half(Side::Second, tensor("x"))
}

/// Rotated by the angle.
pub(super) fn forward() -> Rule {
    let (kept, rotated) = (multiply(tensor("x"), element_cosine()), concatenate([negate(second()), first()]));
    rope("rotate-half", false, add(kept, multiply(rotated, element_sine())))
}

/// Rotated the other way.
pub(super) fn inverse() -> Rule {
    let kept = || multiply(tensor("x"), element_cosine());
    let (rotated, back) = (concatenate([negate(second()), first()]), concatenate([second(), negate(first())]));
    let pattern =
        either([subtract(kept(), multiply(rotated, element_sine())), add(kept(), multiply(back, element_sine()))]);
    rope("rotate-half-back", true, pattern)
}
