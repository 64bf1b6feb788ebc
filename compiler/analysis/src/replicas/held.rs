//! Values by which ranks pick the elements that they hold.

use halite_ir::Value;
use halite_tensor::DimShard;

/// A value that is the same on all ranks, clamped below a size: which one, of which walk over a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Base {
    pub(super) walk: usize,
    pub(super) value: Value,
    pub(super) size: usize,
}

/// The condition that a digit of a base is the coordinate of the rank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Held {
    pub(super) base: Base,
    pub(super) digit: DimShard,
}
