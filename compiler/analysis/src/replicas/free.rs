//! Stretches of a value's index along which it repeats itself: there a shard of it is the same as the whole.

use halite_tensor::Shape;
use smallvec::SmallVec;

/// Stretches of an index, from one stride to another, on which nothing depends. One of no length is a dimension of one index on this rank
/// that may stand for many.
pub(super) type Stretches = SmallVec<[(usize, usize); 1]>;

/// For each dimension its stretches.
pub(super) type Free = Vec<Stretches>;

/// All of each dimension.
pub(super) fn all(shape: &Shape) -> Free {
    shape.iter().map(|&size| Stretches::from_slice(&[(1, size)])).collect()
}

/// Nothing of any.
pub(super) fn none(rank: usize) -> Free {
    vec![Stretches::new(); rank]
}

/// Whether a digit at this stride could be added.
pub(super) fn holds(stretches: &Stretches, stride: usize) -> bool {
    stretches.iter().any(|&(low, high)| low <= stride && stride <= high)
}

/// The stretches that two have in common.
pub(super) fn common(x: &Stretches, y: &Stretches) -> Stretches {
    let pairs = x.iter().flat_map(|x| y.iter().map(move |y| (x.0.max(y.0), x.1.min(y.1))));
    let mut both: Stretches = pairs.filter(|(low, high)| low <= high).collect();
    both.dedup();
    both
}

/// The part from `low` to `low * size`, counted from `low`. What only ends or begins there is no part of it.
pub(super) fn within(stretches: &Stretches, low: usize, size: usize) -> Stretches {
    let high = low * size;
    let cut = |&(from, to): &(usize, usize)| {
        let (start, end) = (from.max(low), to.min(high));
        let own = start < end || (start == end && (from == to || size == 1));
        (own && start.is_multiple_of(low) && end.is_multiple_of(low)).then(|| (start / low, end / low))
    };
    stretches.iter().filter_map(cut).collect()
}

/// Stretches above others, joined where they meet.
pub(super) fn join(into: &mut Stretches, more: &Stretches, low: usize) {
    for &(from, to) in more {
        let (from, to) = (from * low, to * low);
        match into.last_mut() {
            Some(last) if last.1 == from => last.1 = to,
            _ => into.push((from, to)),
        }
    }
}

/// The stretches of all dimensions as those of the row-major position.
fn linear(free: &Free, shape: &Shape) -> Stretches {
    let mut all = Stretches::new();
    let mut low = 1;
    for (stretches, &size) in free.iter().zip(shape.iter()).rev() {
        join(&mut all, stretches, low);
        low *= size;
    }
    all
}

/// The stretches of a tensor under another shape.
pub(super) fn reshaped(free: &Free, from: &Shape, to: &Shape) -> Free {
    let all = linear(free, from);
    let mut low = 1;
    let mut result: Free = Vec::with_capacity(to.rank());
    for &size in to.iter().rev() {
        result.push(within(&all, low, size));
        low *= size;
    }
    result.reverse();
    result
}
