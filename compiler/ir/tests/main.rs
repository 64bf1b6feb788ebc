//! The IR from outside: text, verifier, interpreter, ops and composites.

#![allow(clippy::unwrap_used, reason = "a failing helper fails its test")]

mod composites;
mod graph;
mod operands;
mod parse_errors;
mod round_trip;
mod special_values;
mod structural;
mod verifier;
