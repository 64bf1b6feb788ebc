//! Masks that hold where an index falls into the shard of a rank.

use super::held::{Base, Condition, Held, Source};
use super::number::{Index, Number, Term};
use halite_ir::ops::Direction;
use halite_tensor::{DimShard, Mesh, SubAxisId};

/// The condition that a comparison of two numbers makes, where it is one on the shard of the rank.
pub(super) fn compared(mesh: &Mesh, x: &Number, y: &Number, direction: Direction) -> Option<Condition> {
    let (x, y, direction) = match direction {
        Direction::Eq => return equal(mesh, x, y).map(Condition::Held),
        Direction::Gt => (y, x, Direction::Lt),
        Direction::Le => (y, x, Direction::Ge),
        direction => (x, y, direction),
    };
    match (x.unknown, y.unknown, direction) {
        (Some(source), None, Direction::Ge) => bound(mesh, source, y, x, 0),
        (Some(source), None, Direction::Lt) => bound(mesh, source, y, x, 1),
        // `y > x`, `y >= x + 1`.
        (None, Some(source), Direction::Lt) => bound(mesh, source, &x.plus(&Number::constant(1))?, y, 0),
        (None, Some(source), Direction::Ge) => bound(mesh, source, &x.plus(&Number::constant(1))?, y, 1),
        _ => None,
    }
}

/// The condition that a value is at least, or below, what `other` exceeds the rest of `own` by: where a shard begins, or where it ends
/// by so many `shards`.
fn bound(mesh: &Mesh, source: Source, other: &Number, own: &Number, shards: i64) -> Option<Condition> {
    if !own.terms.is_empty() {
        return None;
    }
    let ranks = other.of_ranks()?.plus(&own.ranks.scaled(-1)?)?;
    let [(sub_axis, step)] = ranks.steps(mesh)?[..] else { return None };
    let size = usize::try_from(step).ok().filter(|_| ranks.at(0) == step * shards)?;
    Some(if shards == 0 { Condition::From(source, sub_axis, size) } else { Condition::Below(source, sub_axis, size) })
}

/// All of the conditions, those on the two ends of a shard as one.
pub(super) fn both(mesh: &Mesh, conditions: &[Condition]) -> Vec<Condition> {
    let joined = |condition: &Condition| match *condition {
        Condition::From(source, sub_axis, size) => {
            let ends = conditions.contains(&Condition::Below(source, sub_axis, size));
            let held = || window(mesh, source, sub_axis, size).map(Condition::Held);
            Some(ends.then(held).flatten().unwrap_or(*condition))
        }
        Condition::Below(source, sub_axis, size) => {
            (!conditions.contains(&Condition::From(source, sub_axis, size))).then_some(*condition)
        }
        Condition::Held(_) => Some(*condition),
    };
    conditions.iter().filter_map(joined).collect()
}

/// The condition that a value falls into the rank's shard along a sub-axis, of so many values.
fn window(mesh: &Mesh, source: Source, sub_axis: SubAxisId, stride: usize) -> Option<Held> {
    let size = mesh.sub_axes()[sub_axis].size;
    let base = Base { source, size: stride.checked_mul(size).filter(|_| source.is_same_along(sub_axis))? };
    Some(Held { base, digit: DimShard { sub_axis, size, stride } })
}

/// The base and the sub-axis of which a number, if it is between 0 and a size, is the place within the rank's shard.
pub(super) fn place(mesh: &Mesh, number: &Number, size: usize) -> Option<(Base, SubAxisId)> {
    if let [Term { index: Index::Within(base, sub_axis), stride: 1, size: own, factor: 1 }] = number.terms[..] {
        return (own == size && number.ranks.same() == Some(0) && number.unknown.is_none()).then_some((base, sub_axis));
    }
    let source = number.unknown.filter(|_| number.terms.is_empty())?;
    let [(sub_axis, step)] = number.ranks.steps(mesh)?[..] else { return None };
    let fits = step.checked_neg() == i64::try_from(size).ok() && number.ranks.at(0) == 0;
    Some((window(mesh, source, sub_axis, size).filter(|_| fits)?.base, sub_axis))
}

/// The condition under which two numbers are equal, where it is that a digit of a base is the coordinate of the rank.
fn equal(mesh: &Mesh, x: &Number, y: &Number) -> Option<Held> {
    let difference = x.minus(y).filter(|difference| difference.unknown.is_none())?;
    let [Term { index: Index::Of(base), stride, size, factor }] = difference.terms[..] else { return None };
    if factor != 1 && factor != -1 {
        return None;
    }
    let is = |&sub_axis: &SubAxisId| {
        let at = |rank: usize| -factor * mesh.coordinate(sub_axis, rank) as i64;
        mesh.sub_axes()[sub_axis].size == size
            && (0..mesh.num_ranks()).all(|rank| difference.ranks.at(rank) == at(rank))
    };
    let sub_axis = (0..mesh.sub_axes().len()).find(is).filter(|&sub_axis| base.source.is_same_along(sub_axis))?;
    Some(Held { base, digit: DimShard { sub_axis, size, stride } })
}

/// The value that an index is made of.
pub(super) fn base_of(index: &Number) -> Option<Base> {
    match index.terms.first()?.index {
        Index::Of(base) => Some(base),
        Index::Dim(_) | Index::Within(..) => None,
    }
}

/// Whether an index below `local` is the rest of a value from which digits, the lowest first, are taken out.
pub(super) fn is_left_of(index: &Number, base: Base, digits: &[DimShard], local: usize) -> bool {
    let mut expected = Vec::new();
    let (mut stride, mut factor) = (1, 1_i64);
    for digit in digits {
        if stride == 0 || !digit.stride.is_multiple_of(stride) {
            return false;
        }
        let size = digit.stride / stride;
        expected.push(Term { index: Index::Of(base), stride, size, factor });
        factor *= size as i64;
        stride = digit.stride * digit.size;
    }
    expected.push(Term { index: Index::Of(base), stride, size: base.size / stride, factor });
    let own = |terms: &[Term]| {
        let mut terms: Vec<Term> = terms.iter().copied().filter(|term| term.size > 1).collect();
        terms.sort_unstable();
        terms
    };
    let fits = base.size.is_multiple_of(stride) && factor * (base.size / stride) as i64 == local as i64;
    let alone = index.ranks.same() == Some(0) && index.unknown.is_none();
    fits && alone && own(&expected) == own(&index.terms)
}
