//! Reading and adding up elements by index along a dimension of which a rank holds a shard.

use super::digits::whole;
use super::held::{Base, Held};
use super::mask::{base_of, is_left_of, place};
use super::state::{Cause, Part, Placed, Reading, State};
use halite_tensor::{DimShard, Mesh};

/// The condition under which an element that was read by index is right.
pub(super) struct Picked {
    digits: Vec<DimShard>,
    /// The value that elements were read by; `None` where it does not matter.
    base: Option<Base>,
}

/// A reading of the operand without the shards of the indexed dimension, of which a rank has `size` elements, and the condition under
/// which an element that is read is right.
pub(super) fn read(
    mesh: &Mesh,
    reading: &Reading,
    dim: usize,
    index: &State,
    size: usize,
) -> Option<(Reading, Picked)> {
    let digits = whole(mesh, reading, dim);
    if digits.is_empty() {
        return None;
    }
    let left = || {
        let number = index.number.as_ref()?;
        if let Some((base, sub_axis)) = place(mesh, number, size) {
            let shard = DimShard { sub_axis, size: mesh.sub_axes()[sub_axis].size, stride: size };
            return (digits == [shard]).then_some(base);
        }
        base_of(number).filter(|&base| is_left_of(number, base, &digits, size))
    };
    let base = if size == 1 { None } else { Some(left()?) };
    let rest = digits.iter().fold(reading.clone(), |mut rest, digit| {
        rest.set(digit.sub_axis, None);
        rest
    });
    Some((rest, Picked { digits, base }))
}

/// The reading of a result, with the condition under which its elements are right.
pub(super) fn picked(mut reading: Reading, picked: &Picked, cause: Cause) -> Reading {
    for &digit in &picked.digits {
        reading.set(digit.sub_axis, Some((Part::OwnerByIndex(digit, picked.base), cause)));
    }
    reading
}

/// A reading of the elements to add up, without the mask that makes them zero where an index falls elsewhere, and the digits by which
/// the result is sharded.
pub(super) fn added(reading: &Reading, index: &State, size: usize) -> Option<(Reading, Vec<DimShard>)> {
    let kept: Vec<Held> = reading
        .parts
        .iter()
        .filter_map(|part| match part.1 {
            Part::MaskedOwner(held) => Some(held),
            _ => None,
        })
        .collect();
    let base: Base = kept.first()?.base;
    let mut digits: Vec<DimShard> = kept.iter().filter(|held| held.base == base).map(|held| held.digit).collect();
    digits.sort_unstable_by_key(|digit| digit.stride);
    let fits = is_left_of(index.number.as_ref()?, base, &digits, size);
    let rest = digits.iter().fold(reading.clone(), |mut rest, digit| {
        rest.set(digit.sub_axis, None);
        rest
    });
    fits.then_some((rest, digits))
}

/// A reading of sums with the digits, the lowest first, that shard the dimension that indices name.
pub(super) fn sharded(mut reading: Reading, dim: usize, digits: &[DimShard]) -> Reading {
    let (mut below, mut placed) = (1, Vec::new());
    for digit in digits {
        reading.set(digit.sub_axis, None);
        placed.push(Placed { sub_axis: digit.sub_axis, dim, stride: digit.stride / below });
        below *= digit.size;
    }
    let at = reading.digits.iter().position(|other| other.dim <= dim).unwrap_or(reading.digits.len());
    reading.digits.insert_many(at, placed);
    reading
}
