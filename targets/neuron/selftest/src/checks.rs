//! The checks, in the order in which they are made.

mod aliasing;
mod barrier;
mod call;
mod collectives;
mod flags;
mod integers;
mod kernels;
mod ops;
mod plugin;
mod products;
mod rank;
mod rounding;
mod tokens;
mod updates;

use crate::check::Check;

/// All checks. Flags come first: what the compiler refuses of them is left out of what follows.
pub const CHECKS: &[&dyn Check] = &[
    &flags::Flags,
    &ops::Ops,
    &integers::Integers,
    &products::Products,
    &rounding::Rounding,
    &aliasing::Aliasing,
    &call::Call,
    &barrier::Barrier,
    &rank::Rank,
    &collectives::Collectives,
    &tokens::Tokens,
    &kernels::Kernels,
    &updates::Updates,
    &plugin::Plugin,
];

/// The check of this name.
pub fn named(name: &str) -> Option<&'static dyn Check> {
    CHECKS.iter().find(|check| check.name() == name).copied()
}
