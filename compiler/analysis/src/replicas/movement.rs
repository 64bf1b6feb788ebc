//! Reshapes.

use super::bonds::Bonds;
use super::digits::{Slot, choices, minor_first, under};
use super::moves::Moves;
use super::state::{Cause, Part, Placed, Reading, Why};
use halite_ir::ops::Reduction;
use halite_tensor::{Shape, SubAxisId};
use smallvec::SmallVec;

/// A place for a digit, and from which it has come where a dimension of size 1 was moved past others.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Move {
    to: Slot,
    from: Option<Slot>,
}

/// A reading of a tensor under another shape, in all ways.
pub(super) fn reshaped(
    reading: &Reading,
    (from, to): (&Shape, &Shape),
    (moves, bonds): (Moves, &Bonds),
    cause: Cause,
) -> Vec<Reading> {
    let (old, new) = (minor_first(from), minor_first(to));
    let mut parts = reading.parts.clone();
    let (mut digits, mut candidates) = (Vec::new(), Vec::new());
    for digit in &reading.digits {
        let slot = (from.rank() - 1 - digit.dim, digit.stride);
        let stays = under(&old, &new, slot);
        let mut found: Vec<Move> = stays.iter().map(|&to| Move { to, from: None }).collect();
        if moves == Moves::Unwritten {
            let moved = moved(&old, &new, slot).into_iter().filter(|to| !stays.contains(to));
            found.extend(moved.map(|to| Move { to, from: Some(slot) }));
        }
        if found.is_empty() {
            parts.push((digit.sub_axis, Part::Varying(Why::Cut), cause));
        } else {
            digits.push(*digit);
            candidates.push(found);
        }
    }
    let fits = |chosen: &[Move], next: &Move| {
        chosen.iter().rev().find(|own| own.from == next.from).is_none_or(|last| last.to <= next.to)
    };
    let one = |chosen: Vec<Move>| Reading { digits: placed(&new, &digits, &chosen), parts: parts.clone() };
    let mut all: Vec<Reading> = choices(&candidates, &bonds.follows(&digits), fits).into_iter().map(one).collect();
    if moves == Moves::Unwritten {
        all.extend(summed(reading, (from, to), cause));
    }
    all
}

/// The reading of a sum that is written as a reshape: of a dimension of size 1 on each rank, which is gone. Its shards are terms then.
fn summed(reading: &Reading, (from, to): (&Shape, &Shape), cause: Cause) -> Option<Reading> {
    let is_gone = |&dim: &usize| from[dim] == 1 && from.iter().enumerate().all(|(at, size)| at == dim || *size != 1);
    let dim = (0..from.rank()).find(is_gone)?;
    if !from.iter().enumerate().filter(|(at, _)| *at != dim).map(|(_, size)| size).eq(to.iter()) {
        return None;
    }
    let mut result = reading.clone();
    for digit in reading.of_dim(dim) {
        result.set(digit.sub_axis, Some((Part::Partial(Reduction::Sum), cause)));
    }
    result.digits.iter_mut().filter(|digit| digit.dim > dim).for_each(|digit| digit.dim -= 1);
    reading.of_dim(dim).next().map(|_| result)
}

/// The digits in order; one that has come to a size lies below what is there.
fn placed(sizes: &[usize], digits: &[Placed], chosen: &[Move]) -> SmallVec<[Placed; 4]> {
    let mut all: Vec<(SubAxisId, Move)> =
        digits.iter().map(|digit| digit.sub_axis).zip(chosen.iter().copied()).collect();
    all.sort_by_key(|(_, own)| (own.to, own.from.is_none()));
    let digit =
        |(sub_axis, own): (SubAxisId, Move)| Placed { sub_axis, dim: sizes.len() - 1 - own.to.0, stride: own.to.1 };
    all.into_iter().map(digit).collect()
}

/// The number of sizes of 1 at the position where a size begins.
fn ones(sizes: &[usize], at: usize) -> usize {
    let mut low = 1;
    let mut count = 0;
    for &size in sizes {
        count += usize::from(size == 1 && low == at);
        low *= size;
    }
    count
}

/// The places of a digit when sizes of 1 were moved past others, as by a transpose that is written as a reshape. A new size of 1 was
/// one elsewhere, or the minor one of two that were one size; a size of 1 that is gone may have moved likewise.
fn moved(from: &[usize], to: &[usize], (slot, stride): Slot) -> Vec<Slot> {
    let low = |sizes: &[usize], slot: usize| sizes[..slot].iter().product::<usize>();
    let at = low(from, slot) * stride;
    let grew = |slot: usize| {
        let at = low(to, slot);
        to[slot] == 1 && ones(to, at) > ones(from, at)
    };
    let count = |sizes: &[usize]| sizes.iter().filter(|&&size| size == 1).count();
    let leaves = from[slot] == 1 && ones(to, at) < ones(from, at);
    let mut found: Vec<Slot> = (0..to.len()).filter(|&slot| stride == 1 && grew(slot)).map(|slot| (slot, 1)).collect();
    if leaves && count(to) < count(from) {
        found = (0..to.len()).map(|slot| (slot, 1)).collect();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_over_a_size_of_one_may_be_a_reshape() {
        let mut rows = Reading::default();
        rows.digits.push(Placed { sub_axis: 0, dim: 0, stride: 1 });
        let cause = Cause(halite_ir::LocTable::unknown());
        let sum = Part::Partial(Reduction::Sum);
        let is_sum = |moves: Moves, from: &[usize], to: &[usize]| {
            let found = reshaped(&rows, (&from.into(), &to.into()), (moves, &Bonds::none(&mesh())), cause);
            found.iter().any(|reading| reading.part(0).is_some_and(|(_, part, _)| *part == sum))
        };
        assert!(is_sum(Moves::Unwritten, &[1, 3], &[3]));
        assert!(!is_sum(Moves::Written, &[1, 3], &[3]));
        assert!(!is_sum(Moves::Unwritten, &[1, 3], &[1, 1, 3]));
        assert!(!is_sum(Moves::Unwritten, &[2, 3], &[6]));
    }

    fn mesh() -> halite_tensor::Mesh {
        halite_tensor::Mesh::new([("tensor", 2)]).expect("a mesh of two ranks")
    }

    #[test]
    fn a_size_of_one_may_have_been_moved() {
        assert_eq!(moved(&[4, 1, 8, 2], &[4, 8, 2], (1, 1)), [(0, 1), (1, 1), (2, 1)]);
        assert_eq!(moved(&[4, 8, 2], &[4, 1, 8, 2], (2, 1)), [(1, 1)]);
        assert_eq!(moved(&[4, 1, 8, 2], &[4, 8, 1, 2], (1, 1)), [(2, 1)]);
        assert!(moved(&[4, 1, 8, 2], &[2, 2, 1, 8, 2], (1, 1)).is_empty());
        assert!(moved(&[4, 8, 2], &[4, 16], (2, 1)).is_empty());
    }
}
