//! Rules for ops that move elements.

use super::site::{Rewrite, Site};
use halite_ir::Op;
use halite_ir::ops::{BroadcastInDim, Concatenate, Constant, Reshape, Slice, Transpose};
use halite_tensor::{Dims, Shape};
use std::ops::Range;

/// One number everywhere is moved by giving it the shape of the result.
pub(super) fn splat(site: &Site<'_>) -> Option<Rewrite> {
    let moves =
        matches!(site.op, Op::Reshape(_) | Op::Transpose(_) | Op::BroadcastInDim(_) | Op::Slice(_) | Op::Reverse(_));
    let constant = if moves { site.constant(0).filter(|constant| constant.is_splat())? } else { return None };
    let types = site.op.def().infer(&site.cx, &[site.ty(0)]).ok()?;
    Some(Rewrite::apply(Constant { value: constant.value.clone(), shape: types[0].shape().clone() }, &[]))
}

/// A reshape to the shape that x has.
pub(super) fn reshape_identity(site: &Site<'_>) -> Option<Rewrite> {
    let Op::Reshape(Reshape { shape }) = site.op else { return None };
    (shape == site.ty(0).shape()).then(|| Rewrite::To(site.args[0]))
}

/// Of two reshapes the last one counts.
pub(super) fn reshape_reshape(site: &Site<'_>) -> Option<Rewrite> {
    let Op::Reshape(outer) = site.op else { return None };
    let (Op::Reshape(_), args) = site.def(0)? else { return None };
    Some(Rewrite::apply(outer.clone(), &[args[0]]))
}

/// `reshape(transpose(reshape(x)))` needs one reshape only where the inner one merges dimensions or the outer one splits
/// them: the transpose then moves the parts together.
pub(super) fn reshape_transpose_reshape(site: &Site<'_>) -> Option<Rewrite> {
    let Op::Reshape(outer) = site.op else { return None };
    let (Op::Transpose(Transpose { permutation }), transposed) = site.def(0)? else { return None };
    let (Op::Reshape(inner), args) = site.def_of(transposed[0])? else { return None };
    if !site.uses.at_most_one(site.args[0]) {
        return None;
    }
    let x = site.function.ty(args[0]).shape();
    if let Some(parts) = partition(x, &inner.shape) {
        let moved = permutation.iter().flat_map(|&dim| parts[dim].clone()).collect();
        return Some(Rewrite::chain(Transpose { permutation: moved }, args, outer.clone()));
    }
    let parts = partition(&outer.shape, site.ty(0).shape())?;
    let back =
        |dim: usize| permutation.iter().position(|&from| from == dim).expect("a permutation has every dimension");
    let split = (0..parts.len()).flat_map(|dim| outer.shape[parts[back(dim)].clone()].iter().copied()).collect();
    let mut starts = vec![0; parts.len()];
    let mut next = 0;
    for dim in 0..parts.len() {
        starts[dim] = next;
        next += parts[back(dim)].len();
    }
    let moved = permutation.iter().zip(&parts).flat_map(|(&dim, part)| starts[dim]..starts[dim] + part.len()).collect();
    Some(Rewrite::chain(Reshape { shape: split }, args, Transpose { permutation: moved }))
}

/// For each dimension of `coarse` the dimensions of `fine` that make it up, if all do and nothing is empty.
fn partition(fine: &Shape, coarse: &Shape) -> Option<Vec<Range<usize>>> {
    let mut next = 0;
    let mut parts = Vec::with_capacity(coarse.rank());
    for (dim, &size) in coarse.iter().enumerate() {
        let (start, mut product) = (next, 1);
        let last = dim + 1 == coarse.rank();
        while next < fine.rank() && (product < size || fine[next] == 1 && (last || coarse[dim + 1] != 1)) {
            product *= fine[next];
            next += 1;
        }
        if product != size {
            return None;
        }
        parts.push(start..next);
    }
    (next == fine.rank()).then_some(parts)
}

/// A transpose that leaves every dimension where it is.
pub(super) fn transpose_identity(site: &Site<'_>) -> Option<Rewrite> {
    let Op::Transpose(Transpose { permutation }) = site.op else { return None };
    permutation.is_sorted().then(|| Rewrite::To(site.args[0]))
}

/// Two transposes are one.
pub(super) fn transpose_transpose(site: &Site<'_>) -> Option<Rewrite> {
    let Op::Transpose(outer) = site.op else { return None };
    let (Op::Transpose(inner), args) = site.def(0)? else { return None };
    let permutation: Dims = outer.permutation.iter().map(|&dim| inner.permutation[dim]).collect();
    Some(Rewrite::apply(Transpose { permutation }, &[args[0]]))
}

/// A broadcast to the shape that x has.
pub(super) fn broadcast_identity(site: &Site<'_>) -> Option<Rewrite> {
    let Op::BroadcastInDim(BroadcastInDim { shape, .. }) = site.op else { return None };
    (shape == site.ty(0).shape()).then(|| Rewrite::To(site.args[0]))
}

/// Two broadcasts are one.
pub(super) fn broadcast_broadcast(site: &Site<'_>) -> Option<Rewrite> {
    let Op::BroadcastInDim(outer) = site.op else { return None };
    let (Op::BroadcastInDim(inner), args) = site.def(0)? else { return None };
    let dims = inner.dims.iter().map(|&dim| outer.dims[dim]).collect();
    Some(Rewrite::apply(BroadcastInDim { dims, shape: outer.shape.clone() }, &[args[0]]))
}

/// Backwards twice along the same dimensions is forwards.
pub(super) fn reverse_reverse(site: &Site<'_>) -> Option<Rewrite> {
    let Op::Reverse(outer) = site.op else { return None };
    let (Op::Reverse(inner), args) = site.def(0)? else { return None };
    (outer.dims == inner.dims).then(|| Rewrite::To(args[0]))
}

/// A slice that takes everything.
pub(super) fn slice_identity(site: &Site<'_>) -> Option<Rewrite> {
    let Op::Slice(slice) = site.op else { return None };
    let x = site.ty(0);
    let takes_all =
        |(dim, &size): (usize, &usize)| (slice.start[dim], slice.limit[dim], slice.stride[dim]) == (0, size, 1);
    x.shape().iter().enumerate().all(takes_all).then(|| Rewrite::To(site.args[0]))
}

/// A slice that takes exactly one operand of a concatenation.
pub(super) fn slice_of_concatenate(site: &Site<'_>) -> Option<Rewrite> {
    let Op::Slice(slice) = site.op else { return None };
    let (Op::Concatenate(Concatenate { dim: along }), args) = site.def(0)? else { return None };
    let mut start = 0;
    for &arg in args {
        let shape = site.function.ty(arg).shape();
        let part = Slice {
            start: (0..shape.rank()).map(|dim| if dim == *along { start } else { 0 }).collect(),
            limit: (0..shape.rank()).map(|dim| if dim == *along { start + shape[dim] } else { shape[dim] }).collect(),
            stride: Dims::from_elem(1, shape.rank()),
        };
        if *slice == part {
            return Some(Rewrite::To(arg));
        }
        start += shape[*along];
    }
    None
}

/// A concatenation of one operand.
pub(super) fn concatenate_one(site: &Site<'_>) -> Option<Rewrite> {
    let (Op::Concatenate(_), [only]) = (site.op, site.args) else { return None };
    Some(Rewrite::To(*only))
}

/// A padding that adds and removes nothing.
pub(super) fn pad_nothing(site: &Site<'_>) -> Option<Rewrite> {
    let Op::Pad(pad) = site.op else { return None };
    let nothing = pad.low.iter().chain(&pad.high).all(|&edge| edge == 0) && pad.interior.iter().all(|&gap| gap == 0);
    nothing.then(|| Rewrite::To(site.args[0]))
}
