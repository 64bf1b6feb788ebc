//! Rules for contractions.

use super::site::{Rewrite, Site};
use halite_ir::Op;
use halite_ir::ops::DotGeneral;

/// `transpose(dot(x, y)) => dot(y, x)` when the transpose swaps the free dimensions of x with those of y and nothing else
/// reads the dot. Batch dimensions stay in front.
pub(super) fn transposed(site: &Site<'_>) -> Option<Rewrite> {
    let Op::Transpose(transpose) = site.op else { return None };
    let (Op::DotGeneral(dot), args) = site.def(0)? else { return None };
    let batch = dot.batch.0.len();
    let left = site.function.ty(args[0]).rank() - batch - dot.contract.0.len();
    let rank = site.ty(0).rank();
    let swapped = (0..batch).chain(batch + left..rank).chain(batch..batch + left);
    if !transpose.permutation.iter().copied().eq(swapped) || !site.uses.at_most_one(site.args[0]) {
        return None;
    }
    let swap = |pair: &(_, _)| -> (_, _) { (Clone::clone(&pair.1), Clone::clone(&pair.0)) };
    let dot = DotGeneral { batch: swap(&dot.batch), contract: swap(&dot.contract), accumulate: dot.accumulate };
    Some(Rewrite::apply(dot, &[args[1], args[0]]))
}
