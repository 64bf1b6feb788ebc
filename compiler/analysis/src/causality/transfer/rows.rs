//! Checks of masks: whether each row keeps an element.

use crate::causality::affine::{Affine, Digit};
use crate::causality::flow::Term;
use crate::causality::region::{Area, Region};
use crate::causality::space::Space;

/// How many elements are tried where regions are not simple.
const MAX_TRIED: usize = 1 << 18;

/// Whether every row, along the factors that the result lacks, has an element outside `low`; `None` when that is not
/// known.
pub(super) fn every_row_is_seen(low: &Area, space: &Space) -> Option<bool> {
    let (others, mut exact) = low.complement();
    let mut seen = Area::default();
    for guard in &others {
        let element = Term { form: 0.into(), guard: guard.clone(), vague: false };
        for row in element.eliminated(&|digit| space.lacks(0, digit), false) {
            exact &= !row.vague;
            exact &= row.vague || seen.add(row.guard);
        }
    }
    if seen.covers_all() {
        return Some(true);
    }
    if exact { Some(false) } else { try_rows(&others, space) }
}

/// The same, row by row. Each is searched from its own position backwards, where masks leave something.
fn try_rows(others: &[Region], space: &Space) -> Option<bool> {
    let spaces = others.iter().flat_map(|region| region.spaces());
    let mut dims: Vec<usize> = spaces.flat_map(Affine::terms).map(|(digit, _)| digit.dim).collect();
    dims.sort_unstable();
    dims.dedup();
    let (inner, outer): (Vec<usize>, Vec<usize>) =
        dims.into_iter().partition(|&dim| space.lacks(0, Digit::whole(dim, 1)));
    let size = |dims: &[usize]| dims.iter().map(|&dim| space.size(dim)).product::<usize>();
    let (rows, elements) = (size(&outer), size(&inner));
    let mut tried = 0;
    for row in 0..rows {
        let mut found = false;
        for step in 0..elements {
            tried += 1;
            if tried > MAX_TRIED {
                return None;
            }
            let index = (index(&outer, row, space), index(&inner, (row + elements - step) % elements, space));
            let at = |digit: Digit| {
                let along = index.0.iter().chain(&index.1).find(|(dim, _)| *dim == digit.dim);
                along.map_or(0, |(_, position)| (position / digit.stride % digit.size) as i64)
            };
            if others.iter().any(|region| region.spaces().iter().all(|space| space.value(&at) >= 0)) {
                found = true;
                break;
            }
        }
        if !found {
            return Some(false);
        }
    }
    Some(true)
}

/// The position along each of some factors of the element of this number.
fn index(dims: &[usize], mut number: usize, space: &Space) -> Vec<(usize, usize)> {
    let mut all = Vec::with_capacity(dims.len());
    for &dim in dims {
        all.push((dim, number % space.size(dim)));
        number /= space.size(dim);
    }
    all
}
