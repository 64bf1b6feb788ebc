//! Values by which ranks pick the elements that they hold.

use super::state::State;
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
    /// A value of this state, on a mesh of so many sub-axes.
    pub(super) fn new(walk: usize, value: Value, state: &State, sub_axes: usize) -> Self {
        let is_same = |&sub_axis: &SubAxisId| state.readings.iter().all(|reading| reading.is_same_along(sub_axis));
        let same = (0..sub_axes.min(64)).filter(is_same).fold(0, |bits, sub_axis| bits | 1 << sub_axis);
        Self { walk, value, same }
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

/// The conditions of a mask, where all say which rank holds.
pub(super) fn all(conditions: &[Condition]) -> Vec<Held> {
    let held = |condition: &Condition| if let Condition::Held(held) = condition { Some(*held) } else { None };
    conditions.iter().map(held).collect::<Option<_>>().unwrap_or_default()
}
