//! Rewriting by declared patterns: a [`Rule`] says what a few instructions look like and which composite they are; a
//! [`Fusion`] is a pass made of rules.
//!
//! A pattern is data. It is matched from the instruction that gives the result, its root, towards the operands, and it
//! speaks about *elements*: what only moves them (broadcasts, transposes, reshapes that add or drop dimensions of
//! size 1) and conversions of floats are looked through, while a `DimMap` keeps track of which dimension of
//! the root each dimension is. So `x - max(x)` is one pattern for every way to bring the maximum back to the shape
//! of `x`.
//!
//! - Commutative ops match with their operands in either order, and a choice that fails later is taken back.
//! - Nothing matches across an `optimization_barrier`, and no instruction that rounds by random bits.
//! - An inner value of an element type that loses what the result can hold stands in the way: the composite would not
//!   round there.
//! - Where exactly one thing stands in the way, that is a near miss, and the pass says what it was.
//!
//! The outcome does not depend on the order of the rules; see `select`.

mod bindings;
mod constant;
mod fusion;
mod matcher;
mod pattern;
mod range;
mod replacement;
mod rule;
mod select;
mod view;
mod writer;

pub(crate) use bindings::{Bindings, MatchResult};
pub(crate) use constant::constant_value;
pub use fusion::Fusion;
pub(crate) use pattern::{
    Pattern, Side, add, composite, concatenate, cosine, divide, either, erf, exponential, half, is, log, logistic,
    maximum, multiply, near, negate, number, one_over_size, power, reduce, rsqrt, sine, size, sqrt, subtract, tanh,
    tensor,
};
pub(crate) use range::range;
pub(crate) use rule::Rule;
pub(crate) use view::MatchCx;
pub(crate) use writer::Writer;
