//! Rules for contractions.

use super::candidate::{Candidate, Rewrite};
use halite_ir::Op;
use halite_ir::ops::{DotGeneral, Transpose};
use halite_tensor::Dims;

/// `dot(transpose(x), y) => dot(x, y)` with dimensions counted in x, when the free dimensions keep their order and batch
/// dimensions stay in front; the same for y.
pub(super) fn of_transpose(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::DotGeneral(dot) = candidate.op else { return None };
    let side = |position: usize, batch: &Dims, contract: &Dims| {
        let (Op::Transpose(Transpose { permutation }), args) = candidate.def(position)? else { return None };
        let moved = |dims: &Dims| dims.iter().map(|&dim| permutation[dim]).collect::<Dims>();
        let is_free = |dim: &usize| !batch.contains(dim) && !contract.contains(dim);
        let free: Dims = (0..permutation.len()).filter(is_free).collect();
        let stays = moved(&free).is_sorted() && moved(batch).iter().copied().eq(0..batch.len());
        stays.then(|| (moved(batch), moved(contract), args[0]))
    };
    let (mut new, mut args) = (dot.clone(), [candidate.args[0], candidate.args[1]]);
    if let Some((batch, contract, x)) = side(0, &dot.batch.0, &dot.contract.0) {
        (new.batch.0, new.contract.0, args[0]) = (batch, contract, x);
    } else {
        let (batch, contract, y) = side(1, &dot.batch.1, &dot.contract.1)?;
        (new.batch.1, new.contract.1, args[1]) = (batch, contract, y);
    }
    Some(Rewrite::apply(new, &args))
}

/// `transpose(dot(x, y)) => dot(y, x)` when the transpose swaps the free dimensions of x with those of y and nothing else
/// reads the dot. Batch dimensions stay in front.
pub(super) fn transposed(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Transpose(transpose) = candidate.op else { return None };
    let (Op::DotGeneral(dot), args) = candidate.def(0)? else { return None };
    let batch = dot.batch.0.len();
    let left = candidate.function.ty(args[0]).rank() - batch - dot.contract.0.len();
    let rank = candidate.ty(0).rank();
    let swapped = (0..batch).chain(batch + left..rank).chain(batch..batch + left);
    if !transpose.permutation.iter().copied().eq(swapped) || !candidate.uses.at_most_one(candidate.args[0]) {
        return None;
    }
    let swap = |pair: &(_, _)| -> (_, _) { (Clone::clone(&pair.1), Clone::clone(&pair.0)) };
    let dot = DotGeneral { batch: swap(&dot.batch), contract: swap(&dot.contract), accumulate: dot.accumulate };
    Some(Rewrite::apply(dot, &[args[1], args[0]]))
}
