//! The placement of values whose numbers are known.

use super::number::{Index, Number, Term};
use super::state::{Cause, Part, Placed, Reading, Why};
use halite_tensor::Mesh;

/// The placement of a value of these numbers: as a shard of an `iota` over a whole dimension, where it is one. `None` where the
/// numbers depend on other values.
pub(super) fn counted(number: &Number, mesh: &Mesh, cause: Cause) -> Option<Reading> {
    if number.unknown.is_some() || number.terms.iter().any(|term| !matches!(term.index, Index::Dim(_))) {
        return None;
    }
    let varies = number.ranks.varies(mesh);
    if varies.is_empty() {
        return Some(Reading::default());
    }
    if let Some(reading) = shard(number, mesh) {
        return Some(reading);
    }
    let mut reading = Reading::default();
    for sub_axis in varies {
        reading.set(sub_axis, Some((Part::Varying(Why::Rank), cause)));
    }
    Some(reading)
}

/// The digits that make its terms and the numbers of ranks count a dimension.
fn shard(number: &Number, mesh: &Mesh) -> Option<Reading> {
    let mut steps = number.ranks.steps(mesh)?;
    let Index::Dim(dim) = number.terms.first()?.index else { return None };
    let mut terms = number.terms.clone();
    terms.sort_unstable_by_key(|term| (term.factor, term.size));
    let (mut whole, mut local) = (1_i64, 1_usize);
    let mut reading = Reading::default();
    let mut terms = terms.into_iter().peekable();
    loop {
        if let Some(at) = steps.iter().position(|&(_, by)| by == whole) {
            let (sub_axis, _) = steps.remove(at);
            reading.digits.push(Placed { sub_axis, dim, stride: local });
            whole = whole.checked_mul(mesh.sub_axes()[sub_axis].size as i64)?;
            continue;
        }
        let fits = |term: &Term| term.index == Index::Dim(dim) && term.stride == local && term.factor == whole;
        let Some(term) = terms.next_if(|term| term.size == 1 || fits(term)) else { break };
        whole = whole.checked_mul(term.size as i64)?;
        local *= term.size;
    }
    (steps.is_empty() && terms.next().is_none()).then_some(reading)
}
