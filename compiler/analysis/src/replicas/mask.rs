//! Masks that hold where an index falls into the shard of a rank.

use super::held::{Base, Held};
use super::number::{Index, Number, Term};
use halite_tensor::{DimShard, Mesh, SubAxisId};

/// The condition under which two numbers are equal, where it is that a digit of a base is the coordinate of the rank.
pub(super) fn equal(mesh: &Mesh, x: &Number, y: &Number) -> Option<Held> {
    let difference = x.minus(y)?;
    let [Term { index: Index::Of(base), stride, size, factor }] = difference.terms[..] else { return None };
    if factor != 1 && factor != -1 {
        return None;
    }
    let is = |&sub_axis: &SubAxisId| {
        let at = |rank: usize| -factor * mesh.coordinate(sub_axis, rank) as i64;
        mesh.sub_axes()[sub_axis].size == size
            && (0..mesh.num_ranks()).all(|rank| difference.ranks.at(rank) == at(rank))
    };
    let sub_axis = (0..mesh.sub_axes().len()).find(is)?;
    Some(Held { base, digit: DimShard { sub_axis, size, stride } })
}

/// The value that an index is made of.
pub(super) fn base_of(index: &Number) -> Option<Base> {
    match index.terms.first()?.index {
        Index::Of(base) => Some(base),
        Index::Dim(_) => None,
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
    fits && own(&expected) == own(&index.terms) && index.ranks.same() == Some(0)
}
