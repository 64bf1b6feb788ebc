//! Rules for ops that move elements.

use super::candidate::{Candidate, Rewrite};
use halite_ir::Op;
use halite_ir::ops::{BroadcastInDim, Concatenate, Constant, Reduce, Reduction, Reshape, Slice, Transpose};
use halite_tensor::{Dims, Shape};

/// One number everywhere is moved by giving it the shape of the result.
pub(super) fn splat(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let moves = matches!(
        candidate.op,
        Op::Reshape(_) | Op::Transpose(_) | Op::BroadcastInDim(_) | Op::Slice(_) | Op::Reverse(_)
    );
    let constant = if moves { candidate.constant(0).filter(|constant| constant.is_splat())? } else { return None };
    let types = candidate.op.def().infer(&candidate.cx, &[candidate.ty(0)]).ok()?;
    Some(Rewrite::apply(Constant { value: constant.value.clone(), shape: types[0].shape().clone() }, &[]))
}

/// A reshape to the shape that x has.
pub(super) fn reshape_identity(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Reshape(Reshape { shape }) = candidate.op else { return None };
    (shape == candidate.ty(0).shape()).then(|| Rewrite::To(candidate.args[0]))
}

/// Of two reshapes the last one counts.
pub(super) fn reshape_reshape(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Reshape(outer) = candidate.op else { return None };
    let (Op::Reshape(_), args) = candidate.def(0)? else { return None };
    Some(Rewrite::apply(outer.clone(), &[args[0]]))
}

/// A transpose that leaves every dimension where it is.
pub(super) fn transpose_identity(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Transpose(Transpose { permutation }) = candidate.op else { return None };
    permutation.is_sorted().then(|| Rewrite::To(candidate.args[0]))
}

/// A transpose that leaves dimensions larger than 1 in their order is a reshape.
pub(super) fn transpose_of_ones(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Transpose(Transpose { permutation }) = candidate.op else { return None };
    let shape = candidate.ty(0).shape();
    let large: Dims = permutation.iter().copied().filter(|&dim| shape[dim] != 1).collect();
    let moved = permutation.iter().map(|&dim| shape[dim]).collect();
    large.is_sorted().then(|| Rewrite::apply(Reshape { shape: moved }, candidate.args))
}

/// Two transposes are one.
pub(super) fn transpose_transpose(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Transpose(outer) = candidate.op else { return None };
    let (Op::Transpose(inner), args) = candidate.def(0)? else { return None };
    let permutation: Dims = outer.permutation.iter().map(|&dim| inner.permutation[dim]).collect();
    Some(Rewrite::apply(Transpose { permutation }, &[args[0]]))
}

/// A broadcast to the shape that x has.
pub(super) fn broadcast_identity(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::BroadcastInDim(BroadcastInDim { shape, .. }) = candidate.op else { return None };
    (shape == candidate.ty(0).shape()).then(|| Rewrite::To(candidate.args[0]))
}

/// Two broadcasts are one.
pub(super) fn broadcast_broadcast(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::BroadcastInDim(outer) = candidate.op else { return None };
    let (Op::BroadcastInDim(inner), args) = candidate.def(0)? else { return None };
    let dims = inner.dims.iter().map(|&dim| outer.dims[dim]).collect();
    Some(Rewrite::apply(BroadcastInDim { dims, shape: outer.shape.clone() }, &[args[0]]))
}

/// A broadcast need not be of a reshape that adds dimensions of size 1.
pub(super) fn broadcast_of_reshape(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::BroadcastInDim(outer) = candidate.op else { return None };
    let (Op::Reshape(inner), args) = candidate.def(0)? else { return None };
    let places = without_ones(&inner.shape);
    if candidate.function.ty(args[0]).shape().iter().copied().ne(places.iter().map(|&dim| inner.shape[dim])) {
        return None;
    }
    let dims = places.iter().map(|&dim| outer.dims[dim]).collect();
    Some(Rewrite::apply(BroadcastInDim { dims, shape: outer.shape.clone() }, args))
}

/// A reshape of a broadcast that adds or removes new dimensions of size 1 is a broadcast.
pub(super) fn reshape_of_broadcast(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Reshape(outer) = candidate.op else { return None };
    let (Op::BroadcastInDim(inner), args) = candidate.def(0)? else { return None };
    let (from, to) = (without_ones(&inner.shape), without_ones(&outer.shape));
    if from.iter().map(|&dim| inner.shape[dim]).ne(to.iter().map(|&dim| outer.shape[dim])) {
        return None;
    }
    let place = |dim: &usize| from.iter().position(|own| own == dim).map(|at| to[at]);
    let dims = inner.dims.iter().map(place).collect::<Option<Dims>>()?;
    Some(Rewrite::apply(BroadcastInDim { dims, shape: outer.shape.clone() }, args))
}

/// The dimensions of another size than 1.
fn without_ones(shape: &Shape) -> Dims {
    (0..shape.rank()).filter(|&dim| shape[dim] != 1).collect()
}

/// The largest or smallest of repeated elements is the element.
pub(super) fn reduce_of_broadcast(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Reduce(Reduce { kind, dims, .. }) = candidate.op else { return None };
    let (Op::BroadcastInDim(inner), args) = candidate.def(0)? else { return None };
    let repeats = |&dim: &usize| inner.shape[dim] > 0 && !inner.dims.contains(&dim);
    if !kind.is_idempotent() || !dims.iter().all(repeats) {
        return None;
    }
    let kept: Dims = (0..inner.shape.rank()).filter(|dim| !dims.contains(dim)).collect();
    let place = |dim: &usize| kept.iter().position(|own| own == dim);
    let dims = inner.dims.iter().map(place).collect::<Option<Dims>>()?;
    let shape = kept.iter().map(|&dim| inner.shape[dim]).collect();
    Some(Rewrite::apply(BroadcastInDim { dims, shape }, args))
}

/// A reduction of one element is the element. A sum of floats turns `-0` into `0`.
pub(super) fn reduce_of_one(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Reduce(Reduce { kind, dims, accumulate }) = candidate.op else { return None };
    let x = candidate.ty(0);
    let is_kept = *kind != Reduction::Sum || !accumulate.is_float();
    let is_one = dims.iter().all(|&dim| x.shape()[dim] == 1);
    if !is_kept || !is_one || x.dtype() != *accumulate {
        return None;
    }
    let kept = (0..x.rank()).filter(|dim| !dims.contains(dim));
    Some(Rewrite::apply(Reshape { shape: kept.map(|dim| x.shape()[dim]).collect() }, candidate.args))
}

/// Backwards twice along the same dimensions is forwards.
pub(super) fn reverse_reverse(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Reverse(outer) = candidate.op else { return None };
    let (Op::Reverse(inner), args) = candidate.def(0)? else { return None };
    (outer.dims == inner.dims).then(|| Rewrite::To(args[0]))
}

/// A slice that takes everything.
pub(super) fn slice_identity(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Slice(slice) = candidate.op else { return None };
    let x = candidate.ty(0);
    let takes_all =
        |(dim, &size): (usize, &usize)| (slice.start[dim], slice.limit[dim], slice.stride[dim]) == (0, size, 1);
    x.shape().iter().enumerate().all(takes_all).then(|| Rewrite::To(candidate.args[0]))
}

/// A slice of a slice is one slice.
pub(super) fn slice_slice(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Slice(outer) = candidate.op else { return None };
    let (Op::Slice(inner), args) = candidate.def(0)? else { return None };
    let dims = 0..outer.start.len();
    let start = dims.clone().map(|dim| inner.start[dim] + outer.start[dim] * inner.stride[dim]).collect();
    let limit = dims.clone().map(|dim| {
        let last = outer.limit[dim].checked_sub(1)?;
        (outer.start[dim] <= last).then(|| inner.start[dim] + last * inner.stride[dim] + 1)
    });
    let limit = limit.collect::<Option<Dims>>()?;
    let stride = dims.map(|dim| inner.stride[dim] * outer.stride[dim]).collect();
    Some(Rewrite::apply(Slice { start, limit, stride }, args))
}

/// A slice along dimensions that a broadcast repeats is a smaller broadcast.
pub(super) fn slice_of_broadcast(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Slice(slice) = candidate.op else { return None };
    let (Op::BroadcastInDim(inner), args) = candidate.def(0)? else { return None };
    let types = candidate.op.def().infer(&candidate.cx, &[candidate.ty(0)]).ok()?;
    let is_whole = |&dim: &usize| (slice.start[dim], slice.limit[dim], slice.stride[dim]) == (0, inner.shape[dim], 1);
    let shape = types[0].shape().clone();
    inner.dims.iter().all(is_whole).then(|| Rewrite::apply(BroadcastInDim { dims: inner.dims.clone(), shape }, args))
}

/// A slice that takes exactly one operand of a concatenation.
pub(super) fn slice_of_concatenate(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Slice(slice) = candidate.op else { return None };
    let (Op::Concatenate(Concatenate { dim: along }), args) = candidate.def(0)? else { return None };
    let mut start = 0;
    for &arg in args {
        let shape = candidate.function.ty(arg).shape();
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
pub(super) fn concatenate_one(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let (Op::Concatenate(_), [only]) = (candidate.op, candidate.args) else { return None };
    Some(Rewrite::To(*only))
}

/// A concatenation inside of one along the same dimension is a part of it, when nothing else reads it.
pub(super) fn concatenate_concatenate(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Concatenate(outer) = candidate.op else { return None };
    let inner = |position: usize| match candidate.def(position) {
        Some((Op::Concatenate(inner), args))
            if inner == outer && candidate.uses.at_most_one(candidate.args[position]) =>
        {
            Some(args)
        }
        _ => None,
    };
    let position = (0..candidate.args.len()).find(|&position| inner(position).is_some())?;
    let args = [&candidate.args[..position], inner(position)?, &candidate.args[position + 1..]].concat();
    Some(Rewrite::apply(outer.clone(), &args))
}

/// A concatenation of the neighbouring slices of a tensor is a slice of it.
pub(super) fn concatenate_of_slices(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Concatenate(Concatenate { dim: along }) = candidate.op else { return None };
    let slice = |position: usize| match candidate.def(position) {
        Some((Op::Slice(slice), args)) if slice.stride.iter().all(|&stride| stride == 1) => Some((slice, args)),
        _ => None,
    };
    let (first, x) = slice(0)?;
    let mut whole = first.clone();
    for position in 1..candidate.args.len() {
        let (next, _) = slice(position).filter(|(_, args)| *args == x)?;
        let continues = |dim: usize| {
            if dim == *along {
                next.start[dim] == whole.limit[dim]
            } else {
                (next.start[dim], next.limit[dim]) == (whole.start[dim], whole.limit[dim])
            }
        };
        if !(0..next.start.len()).all(continues) {
            return None;
        }
        whole.limit[*along] = next.limit[*along];
    }
    (candidate.args.len() > 1).then(|| Rewrite::apply(whole, x))
}

/// A padding that adds and removes nothing.
pub(super) fn pad_nothing(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Pad(pad) = candidate.op else { return None };
    let nothing = pad.low.iter().chain(&pad.high).all(|&edge| edge == 0) && pad.interior.iter().all(|&gap| gap == 0);
    nothing.then(|| Rewrite::To(candidate.args[0]))
}
