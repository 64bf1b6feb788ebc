//! Reading and adding up elements by index where a rank holds a part of what indices name.

use super::digits::whole;
use super::held::{Base, Held};
use super::mask::left_of;
use super::state::{Cause, Part, Placed, Reading, State};
use halite_tensor::{Digit, Mesh};

/// A reading of what is read from, without what shards the dimension that indices name, and of which elements then are right.
pub(super) fn read(
    mesh: &Mesh,
    reading: &Reading,
    dim: usize,
    index: &State,
    size: usize,
) -> Option<(Reading, Vec<Held>)> {
    let digits = whole(mesh, reading, dim);
    if digits.is_empty() {
        return None;
    }
    let base = left_of(index.number.as_ref()?, &digits, size)?;
    let held = digits.iter().map(|&digit| Held { base, digit }).collect();
    let rest = digits.iter().fold(reading.clone(), |mut rest, digit| {
        rest.set(digit.atom, None);
        rest
    });
    Some((rest, held))
}

/// The readings of what was read with what is known of which elements are right.
pub(super) fn picked(mut reading: Reading, held: &[Held], cause: Cause) -> Reading {
    for &held in held {
        reading.set(held.digit.atom, Some((Part::Picked(held), cause)));
    }
    reading
}

/// A reading of what is added up, without that it is zero where an index falls elsewhere, and the digits by which the result is sharded.
pub(super) fn added(reading: &Reading, index: &State, size: usize) -> Option<(Reading, Vec<Digit>)> {
    let kept: Vec<Held> = reading
        .parts
        .iter()
        .filter_map(|part| match part.1 {
            Part::Kept(held) => Some(held),
            _ => None,
        })
        .collect();
    let base: Base = kept.first()?.base;
    let mut digits: Vec<Digit> = kept.iter().filter(|held| held.base == base).map(|held| held.digit).collect();
    digits.sort_unstable_by_key(|digit| digit.stride);
    let found = left_of(index.number.as_ref()?, &digits, size)?;
    let rest = digits.iter().fold(reading.clone(), |mut rest, digit| {
        rest.set(digit.atom, None);
        rest
    });
    (found == base).then_some((rest, digits))
}

/// A reading of sums with the digits, the lowest first, that shard the dimension that indices name.
pub(super) fn sharded(mut reading: Reading, dim: usize, digits: &[Digit]) -> Reading {
    let (mut below, mut placed) = (1, Vec::new());
    for digit in digits {
        reading.set(digit.atom, None);
        placed.push(Placed { atom: digit.atom, dim, stride: digit.stride / below });
        below *= digit.size;
    }
    let at = reading.digits.iter().position(|other| other.dim <= dim).unwrap_or(reading.digits.len());
    reading.digits.insert_many(at, placed);
    reading
}
