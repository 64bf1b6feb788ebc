//! Values by which ranks pick the elements that they hold.

use halite_ir::Value;
use halite_tensor::{DimShard, SubAxisId};

/// A value of a walk over a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Source {
    pub(super) walk: usize,
    pub(super) value: Value,
    /// A bit for each sub-axis along which all ranks hold the same; none for sub-axes from the 64th on.
    same: u64,
}

impl Source {
    /// A value of which all ranks hold the same along those of the sub-axes, so many as the mesh has, of which that is said.
    pub(super) fn new(walk: usize, value: Value, sub_axes: usize, is_same: impl Fn(SubAxisId) -> bool) -> Self {
        let sub_axes = (0..sub_axes.min(64)).filter(|&sub_axis| is_same(sub_axis));
        Self { walk, value, same: sub_axes.fold(0, |bits, sub_axis| bits | 1 << sub_axis) }
    }

    /// Whether all ranks along a sub-axis hold the same.
    pub(super) fn is_same_along(&self, sub_axis: SubAxisId) -> bool {
        sub_axis < 64 && self.same >> sub_axis & 1 == 1
    }
}

/// A value between 0 and a size.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Base {
    pub(super) source: Source,
    pub(super) size: usize,
}

/// A condition of a mask.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Condition {
    Held(Held),
    /// A value is at least the first of the rank's shard along a sub-axis, of so many values.
    From(Source, SubAxisId, usize),
    /// A value is below the end of the rank's shard along a sub-axis, of so many values.
    Below(Source, SubAxisId, usize),
}

/// The condition that a digit of a base is the coordinate of the rank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Held {
    pub(super) base: Base,
    pub(super) digit: DimShard,
}

/// A known mask.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Mask {
    pub(super) conditions: Vec<Condition>,
    /// Whether it holds where not all conditions do, instead of where they do.
    pub(super) negated: bool,
}

impl Mask {
    pub(super) fn negation(&self) -> Self {
        Self { negated: !self.negated, ..self.clone() }
    }

    /// The conditions, where all say which rank holds; none of a mask that holds elsewhere.
    pub(super) fn held(&self) -> Vec<Held> {
        let held = |condition: &Condition| if let Condition::Held(held) = condition { Some(*held) } else { None };
        let all = self.conditions.iter().map(held).collect::<Option<_>>();
        all.filter(|_| !self.negated).unwrap_or_default()
    }
}
