//! Masks that hold where an index falls into the shard of a rank.

use super::held::{Base, Condition, Held, Mask, Source};
use super::number::{Index, Number, Term};
use super::per_rank::PerRank;
use halite_ir::ops::Direction;
use halite_tensor::{DimShard, Mesh, SubAxisId};

/// The mask that a comparison of two numbers makes, where it is one on the shard of the rank.
pub(super) fn compared(mesh: &Mesh, x: &Number, y: &Number, direction: Direction) -> Option<Mask> {
    if matches!(direction, Direction::Eq | Direction::Ne) {
        let conditions = vec![Condition::Held(equal(mesh, x, y)?)];
        return Some(Mask { conditions, negated: direction == Direction::Ne });
    }
    // The value is at least the number of the rank, or below it.
    let (source, own, other, is_left) = match (source_of(x), source_of(y)) {
        (Some(source), None) => (source, x, y, true),
        (None, Some(source)) => (source, y, x, false),
        _ => return None,
    };
    let next = |ranks: PerRank| ranks.plus(&PerRank::All(1));
    let ranks = other.of_ranks()?.plus(&own.ranks.scaled(-1)?)?;
    let (ranks, is_below) = match (direction, is_left) {
        (Direction::Ge, true) | (Direction::Le, false) => (ranks, false),
        (Direction::Gt, true) | (Direction::Lt, false) => (next(ranks)?, false),
        (Direction::Lt, true) | (Direction::Gt, false) => (ranks, true),
        _ => (next(ranks)?, true),
    };
    let [(sub_axis, step)] = ranks.steps(mesh)?[..] else { return None };
    let size = usize::try_from(step).ok()?;
    let (condition, is_end) = match ranks.at(0) {
        0 => (Condition::From(source, sub_axis, size), false),
        first if first == step => (Condition::Below(source, sub_axis, size), true),
        _ => return None,
    };
    Some(Mask { conditions: vec![condition], negated: is_below != is_end })
}

/// The value that a number is, with nothing else but numbers of ranks added.
fn source_of(number: &Number) -> Option<Source> {
    match number.terms[..] {
        [] => number.unknown,
        [Term { index: Index::Of(base), stride: 1, size, factor: 1 }] if size == base.size => {
            number.unknown.is_none().then_some(base.source)
        }
        _ => None,
    }
}

/// A mask that holds where both do.
pub(super) fn both(mesh: &Mesh, x: &Mask, y: &Mask) -> Option<Mask> {
    let conditions = joined(mesh, &[&x.conditions[..], &y.conditions].concat());
    (!x.negated && !y.negated).then_some(Mask { conditions, negated: false })
}

/// All of the conditions, those on the two ends of a shard as one.
fn joined(mesh: &Mesh, conditions: &[Condition]) -> Vec<Condition> {
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
    let source = source_of(number)?;
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
