//! `x` rotated in neighbouring pairs, as by multiplication with complex numbers.

use super::parts::{pair_cosine, pair_sine};
use crate::recognize::rewrite::{Rule, add, concatenate, multiply, subtract, tensor};

/// Another embedding, which the composite is not: never taken.
pub(super) fn rule() -> Rule {
    let (even, odd) = (|| tensor("even"), || tensor("odd"));
    let pattern = concatenate([
        subtract(multiply(even(), pair_cosine()), multiply(odd(), pair_sine())),
        add(multiply(odd(), pair_cosine()), multiply(even(), pair_sine())),
    ]);
    let why =
        "what is rotated together are not the halves of one tensor; `rope` rotates element i with element i + size/2";
    Rule::new("pairs", "rope", pattern).never(why)
}
