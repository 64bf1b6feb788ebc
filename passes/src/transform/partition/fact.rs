//! Facts about a value on the mesh.

use halite_ir::dims::{DimFactors, FactorMap};
use halite_tensor::{DimShard, DimShards, Mesh, Sharding, SubAxisId};
use smallvec::SmallVec;

/// Sub-axes of the mesh, in increasing order.
pub(super) type SubAxes = SmallVec<[SubAxisId; 4]>;

/// The placement of a value on the mesh.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Placement {
    pub(super) sharding: Sharding,
    /// Along these, ranks hold terms of a sum in place of the sum.
    pub(super) partial: SubAxes,
}

impl Placement {
    pub(super) fn of(sharding: Sharding) -> Self {
        Self { sharding, partial: SubAxes::new() }
    }

    pub(super) fn is_whole(&self) -> bool {
        self.partial.is_empty()
    }
}

/// A value of a function for which a plan is made.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Fact {
    pub(super) place: Placement,
    /// Whether it is a weight, or one moved or converted: operands that meet it are brought to its placement.
    pub(super) stationary: bool,
    /// The sub-axes along which it is only stored in shards: where operands that meet it lie along them, it is gathered.
    pub(super) stored: SubAxes,
    /// Whether it is zero everywhere; partial sums of zero are zero too.
    pub(super) zero: bool,
    /// The dimension that counts the positions of a sequence.
    pub(super) sequence: Option<usize>,
}

impl Fact {
    pub(super) fn at(place: Placement) -> Self {
        Self { place, ..Self::default() }
    }
}

/// The facts about a value where it is read.
#[derive(Clone, Copy)]
pub(super) struct Read<'a> {
    /// Those where it is made.
    pub(super) made: &'a Fact,
    /// Its placement, which is that of its sum where that is materialized.
    pub(super) place: &'a Placement,
}

impl Read<'_> {
    pub(super) fn fact(self) -> Fact {
        let Fact { place: _, stationary, stored, zero, sequence } = self.made;
        let (place, stored) = (self.place.clone(), stored.clone());
        Fact { place, stationary: *stationary, stored, zero: *zero, sequence: *sequence }
    }

    /// Whether these are the same facts.
    pub(super) fn is(self, fact: &Fact) -> bool {
        let Fact { place, stationary, stored, zero, sequence } = fact;
        let made = self.made;
        let rest = (made.stationary, made.zero, made.sequence) == (*stationary, *zero, *sequence);
        rest && self.place == place && made.stored == *stored
    }
}

/// A digit of a factor of a map: of which, and where within it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FactorDigit {
    pub(super) factor: usize,
    pub(super) digit: DimShard,
}

/// The digits of a dimension as digits of its factors. Those that lie across several are left out.
pub(super) fn to_factors<'a>(
    map: &'a FactorMap,
    factors: &'a DimFactors,
    digits: &'a DimShards,
) -> impl Iterator<Item = FactorDigit> + 'a {
    digits.iter().filter_map(move |&digit| {
        let mut below: usize = factors.iter().map(|factor| map.factors[factor.index()].size).product();
        for &factor in factors {
            let size = map.factors[factor.index()].size;
            below /= size;
            let inside = digit.stride.is_multiple_of(below) && (below * size).is_multiple_of(digit.stride * digit.size);
            if inside {
                let digit = DimShard { stride: digit.stride / below, ..digit };
                return Some(FactorDigit { factor: factor.index(), digit });
            }
        }
        None
    })
}

/// The digits of a dimension whose factors are sharded so, the largest stride first.
pub(super) fn of_factors(map: &FactorMap, factors: &DimFactors, sharded: &[DimShards]) -> DimShards {
    let mut below: usize = factors.iter().map(|factor| map.factors[factor.index()].size).product();
    let mut digits = DimShards::new();
    for &factor in factors {
        below /= map.factors[factor.index()].size;
        digits.extend(sharded[factor.index()].iter().map(|digit| DimShard { stride: digit.stride * below, ..*digit }));
    }
    digits
}

/// The sharding of an operand or result whose dimensions are made of these factors.
pub(super) fn lie(map: &FactorMap, dims: &[DimFactors], sharded: &[DimShards]) -> Sharding {
    Sharding(dims.iter().map(|factors| of_factors(map, factors, sharded)).collect())
}

/// The digit of a sub-axis that shards the rest of a dimension in blocks, below all that shards it; `None` where it does not divide.
pub(super) fn block(
    mesh: &Mesh,
    sharding: &Sharding,
    size: usize,
    dim: usize,
    sub_axis: SubAxisId,
) -> Option<DimShard> {
    let sub_axis_size = mesh.sub_axes()[sub_axis].size;
    let whole = sharding.0[dim].last().map_or(size, |digit| digit.stride);
    let free = sharding.find(sub_axis).is_none() && whole.is_multiple_of(sub_axis_size);
    free.then(|| DimShard { sub_axis, size: sub_axis_size, stride: whole / sub_axis_size })
}
