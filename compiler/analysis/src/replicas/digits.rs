//! Digits of shardings under reshapes: where one shape leaves the place of a digit open, another decides it.

use super::state::{Placed, Reading};
use halite_tensor::{DimShard, Mesh, Shape, Sharding};
use smallvec::SmallVec;

/// A place for a digit: which size, counted from the minor one, and the stride within it.
pub(super) type Slot = (usize, usize);

/// The places at position `at` among sizes, minor first: the top of the size that ends there, sizes of 1 that lie there, the bottom of
/// the one that begins there, or a place inside of one.
pub(super) fn slots(sizes: &[usize], at: usize) -> SmallVec<[Slot; 2]> {
    let mut low = 1_usize;
    let mut found = SmallVec::new();
    for (slot, &size) in sizes.iter().enumerate() {
        let high = low * size;
        if low <= at && at <= high && at.is_multiple_of(low) && size.is_multiple_of(at / low) {
            found.push((slot, at / low));
        }
        low = high;
    }
    found
}

/// The most choices that are made out. Of 64, too few were left to prove a mixture with two key heads on 256 × 8 ranks with ZeRO-1.
const MAX_CHOICES: usize = 256;

/// All ways to give each digit one of its places, such that each fits those that were chosen before it, and is the last of these where
/// it follows.
pub(super) fn choices<T: Copy + PartialEq>(
    candidates: &[Vec<T>],
    follows: &[bool],
    fits: impl Fn(&[T], &T) -> bool,
) -> Vec<Vec<T>> {
    let mut all = vec![Vec::with_capacity(candidates.len())];
    for (candidates, &follows) in candidates.iter().zip(follows) {
        let mut longer = Vec::new();
        for chosen in &all {
            let next = candidates.iter().filter(|next| fits(chosen, next) && (!follows || chosen.last() == Some(next)));
            longer.extend(next.map(|&next| chosen.iter().copied().chain([next]).collect()));
        }
        longer.truncate(MAX_CHOICES);
        all = longer;
    }
    all
}

/// Whether a digit lies no lower than those before it.
pub(super) fn above(chosen: &[Slot], next: &Slot) -> bool {
    chosen.last().is_none_or(|last| last <= next)
}

/// The places of a digit under another shape, given its place under the first. It keeps its side where the sizes on both sides are the
/// same; not where all sizes are, of a reshape that is one in the whole alone.
pub(super) fn under(from: &[usize], to: &[usize], (slot, stride): Slot) -> SmallVec<[Slot; 2]> {
    let at = from[..slot].iter().product::<usize>() * stride;
    let (old, new) = (slots(from, at), slots(to, at));
    let end = |sizes: &[usize], slot: Option<&Slot>| slot.map(|slot| sizes[slot.0]);
    let same = end(from, old.first()) == end(to, new.first()) && end(from, old.last()) == end(to, new.last());
    if new.len() <= 1 || old.len() <= 1 || !same || from == to {
        return new;
    }
    if old.len() == new.len() {
        let index = old.iter().position(|&other| other == (slot, stride)).unwrap_or_default();
        return SmallVec::from_slice(&[new[index]]);
    }
    let keeps = |own: &Slot| match (from[slot], stride) {
        (1, _) => true,
        (_, 1) => to[own.0] == 1 || own.1 == 1,
        _ => to[own.0] == 1 || own.1 > 1,
    };
    new.into_iter().filter(keeps).collect()
}

/// The digits of a layout as one rank sees them.
pub(super) fn of_sharding(sharding: &Sharding) -> Reading {
    let mut reading = Reading::default();
    for (dim, digits) in sharding.0.iter().enumerate().rev() {
        let mut below = 1;
        for digit in digits.iter().rev() {
            reading.digits.push(Placed { sub_axis: digit.sub_axis, dim, stride: digit.stride / below });
            below *= digit.size;
        }
    }
    reading
}

/// The shards of a dimension, with strides in terms of the whole dimension, the lowest first.
pub(super) fn whole(mesh: &Mesh, reading: &Reading, dim: usize) -> Vec<DimShard> {
    let mut below = 1;
    let digit = |placed: &Placed| {
        let size = mesh.sub_axes()[placed.sub_axis].size;
        let digit = DimShard { sub_axis: placed.sub_axis, size, stride: placed.stride * below };
        below *= size;
        digit
    };
    reading.of_dim(dim).map(digit).collect()
}

/// The sizes of a shape, minor first.
pub(super) fn minor_first(shape: &Shape) -> Vec<usize> {
    shape.iter().rev().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_of_one_leaves_open_what_is_sharded() {
        assert_eq!(under(&[8], &[8, 1], (0, 8))[..], [(0, 8), (1, 1)]);
        assert_eq!(under(&[8, 1], &[8], (1, 1))[..], [(0, 8)]);
        assert_eq!(under(&[8, 1, 3], &[8, 1, 3], (1, 1))[..], [(0, 8), (1, 1), (2, 1)]);
        assert_eq!(under(&[8, 1, 3], &[8, 1, 3, 1], (1, 1))[..], [(1, 1)]);
        assert_eq!(under(&[8], &[2, 4], (0, 2))[..], [(0, 2), (1, 1)]);
        assert_eq!(under(&[2, 4], &[8], (1, 1))[..], [(0, 2)]);
        assert_eq!(under(&[4, 32, 4], &[4, 8, 4, 4], (2, 1))[..], [(2, 4), (3, 1)]);
        assert_eq!(under(&[8, 2], &[8, 1, 2], (1, 1))[..], [(1, 1), (2, 1)]);
        assert_eq!(under(&[8, 2], &[8, 1, 2], (0, 8))[..], [(0, 8), (1, 1)]);
    }

    #[test]
    fn digits_keep_their_order() {
        let both = vec![(0, 8), (1, 1)];
        let both = [both.clone(), both];
        assert_eq!(choices(&both, &[false, false], above), [[(0, 8), (0, 8)], [(0, 8), (1, 1)], [(1, 1), (1, 1)]]);
        assert_eq!(choices(&both, &[false, true], above), [[(0, 8), (0, 8)], [(1, 1), (1, 1)]]);
    }
}
