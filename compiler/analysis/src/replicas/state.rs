//! The state of a value: its possible placements on the mesh, and the numbers of its elements.

use super::free::Free;
use super::held::{Base, Held, Mask};
use super::number::Number;
use halite_ir::ops::Reduction;
use halite_ir::{FuncId, LocId};
use halite_support::check_cancelled;
use halite_tensor::{DimShard, SubAxisId};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// A digit of a dimension that names the rank along a sub-axis.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Placed {
    pub(super) sub_axis: SubAxisId,
    pub(super) dim: usize,
    /// The number of consecutive indices of this rank below the digit.
    pub(super) stride: usize,
}

/// The contents of ranks that differ along a sub-axis, where these are neither the same nor shards.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Part {
    /// Terms that this reduction combines to the value.
    Partial(Reduction),
    /// Elements that were read by index, right where a digit of the index is the coordinate of the rank: of the index that was read
    /// by, or of any where a rank holds one element alone.
    OwnerByIndex(DimShard, Option<Base>),
    /// The value where an index falls into the shard of the rank, and zero elsewhere.
    MaskedOwner(Held),
    /// Contents of which nothing is known.
    Varying(Why),
}

/// The reason why nothing is known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Why {
    /// It is computed from the number of the rank.
    Rank,
    /// An op that is not linear reads terms of a sum.
    NotLinear,
    /// Operands lie differently.
    Unlike,
    /// Shards are read as the whole.
    Cut,
    /// Elements of shards are read by index.
    Index,
    /// It is the result of a wrong collective.
    Collective,
    /// It is the result of a kernel on operands that are not the same on all ranks: the kernel of which this function is the
    /// decomposition.
    Kernel(FuncId),
}

/// The location where a part arose. All locations compare equal, so that parts that differ in them alone are equal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cause(pub(super) LocId);

impl PartialEq for Cause {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Cause {}

impl Hash for Cause {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// One possible placement of a value on the mesh. Along sub-axes that it does not name, all ranks hold the same.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Reading {
    /// DimShards of the last dimension first, of each dimension the lowest first.
    pub(super) digits: SmallVec<[Placed; 4]>,
    pub(super) parts: SmallVec<[(SubAxisId, Part, Cause); 2]>,
}

impl Reading {
    pub(super) fn digit(&self, sub_axis: SubAxisId) -> Option<&Placed> {
        self.digits.iter().find(|digit| digit.sub_axis == sub_axis)
    }

    pub(super) fn part(&self, sub_axis: SubAxisId) -> Option<&(SubAxisId, Part, Cause)> {
        self.parts.iter().find(|part| part.0 == sub_axis)
    }

    pub(super) fn is_same(&self) -> bool {
        self.digits.is_empty() && self.parts.is_empty()
    }

    pub(super) fn is_same_along(&self, sub_axis: SubAxisId) -> bool {
        self.digit(sub_axis).is_none() && self.part(sub_axis).is_none()
    }

    /// Replaces the placement along a sub-axis; `None` for the same on all ranks.
    pub(super) fn set(&mut self, sub_axis: SubAxisId, part: Option<(Part, Cause)>) {
        self.digits.retain(|digit| digit.sub_axis != sub_axis);
        self.parts.retain(|part| part.0 != sub_axis);
        self.parts.extend(part.map(|(part, cause)| (sub_axis, part, cause)));
        self.parts.sort_by_key(|part| part.0);
    }

    /// The digits of a dimension, the lowest first.
    pub(super) fn of_dim(&self, dim: usize) -> impl DoubleEndedIterator<Item = &Placed> {
        self.digits.iter().filter(move |digit| digit.dim == dim)
    }

    fn own(&self) -> impl Iterator<Item = SubAxisId> + Clone + '_ {
        self.parts.iter().filter(|part| matches!(part.1, Part::Varying(_))).map(|part| part.0)
    }

    /// Whether less is known than in another reading.
    fn is_worse(&self, other: &Self) -> bool {
        let (mine, mut theirs) = (self.own(), other.own());
        mine.clone().count() > theirs.clone().count() && theirs.all(|sub_axis| mine.clone().any(|own| own == sub_axis))
    }
}

/// The most readings of a value that are kept. Heads that share two key heads, one on each of eight ranks, leave more than 80 in a dense
/// model, 330 in a mixture on 64 times as many ranks, and 1,365 in one on 256 times as many with ZeRO-1. Of a value that has more, some
/// are given up, and the step may stay unproven.
pub(super) const MAX_READINGS: usize = 2048;

/// Readings without repetition, without those of which less is known than of others; some of them where the work is cancelled.
pub(super) fn pruned(all: impl IntoIterator<Item = Reading>) -> Vec<Reading> {
    let mut kept: Vec<Reading> = Vec::new();
    for reading in all {
        if !kept.is_empty() && check_cancelled().is_err() {
            break;
        }
        if !kept.contains(&reading) && !kept.iter().any(|other| reading.is_worse(other)) {
            kept.retain(|other| !other.is_worse(&reading));
            kept.push(reading);
        }
    }
    kept.truncate(MAX_READINGS);
    kept
}

/// The facts about a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct State {
    /// At least one.
    pub(super) readings: Rc<[Reading]>,
    /// The stretches along which it repeats itself.
    pub(super) free: Rc<Free>,
    /// The numbers that its elements are.
    pub(super) number: Option<Rc<Number>>,
    /// The elements for which it holds, of a mask.
    pub(super) mask: Option<Rc<Mask>>,
    /// Its elements in row-major order, of a constant list of whole numbers.
    pub(super) list: Option<Rc<[i64]>>,
    pub(super) zero: bool,
}

impl State {
    pub(super) fn new(readings: impl IntoIterator<Item = Reading>, free: Free) -> Self {
        Self {
            readings: pruned(readings).into(),
            free: Rc::new(free),
            number: None,
            mask: None,
            list: None,
            zero: false,
        }
    }
}
