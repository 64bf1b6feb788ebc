//! Builtins that find, name or read positions.

use super::Bound;
use crate::ops::{Ops, Value};
use halite_ir::ops::Direction;
use halite_ir::{Attr, Value as Tensor};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, Shape};

type Cx<'a, 'r> = &'a mut Ops<'r>;

/// The tensor and the dimension that a builtin is given first, the last one when left out.
fn along(cx: Cx<'_, '_>, bound: &Bound<'_>, at: usize) -> Result<(Tensor, usize)> {
    let x = cx.tensor_of(bound.required(0))?;
    let rank = cx.b.ty(x).rank();
    Ok((x, cx.one_dim(bound.optional(at), rank, bound)?))
}

/// The tensor of positions that a builtin is given.
fn named(cx: Cx<'_, '_>, bound: &Bound<'_>, at: usize) -> Result<Tensor> {
    let (indices, place) = bound.required(at);
    let indices = cx.tensor_of((indices, place))?;
    cx.indices(indices, place)
}

pub(super) fn argmax(cx: Cx<'_, '_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let (x, dim) = along(cx, bound, 1)?;
    cx.emit_tensor(bound.whole, |b| b.arg_max(x, dim)).map(|value| vec![value])
}

pub(super) fn argmin(cx: Cx<'_, '_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let (x, dim) = along(cx, bound, 1)?;
    cx.emit_tensor(bound.whole, |b| {
        // This reverses the order of whole numbers without leaving their range.
        let turned = if b.dtype(x).is_float() { b.negate(x)? } else { b.not(x)? };
        b.arg_max(turned, dim)
    })
    .map(|value| vec![value])
}

fn sorted(cx: Cx<'_, '_>, bound: &Bound<'_>, result: usize) -> Result<Vec<Value>> {
    let (x, dim) = along(cx, bound, 1)?;
    let descending = cx.flag_of(bound.optional(2))?;
    let attrs = [("dim", Attr::Int(dim as i64)), ("descending", Attr::Bool(descending))];
    cx.emit_tensor(bound.whole, |b| Ok(b.composite("sort_pairs", &attrs, &[x])?[result])).map(|value| vec![value])
}

pub(super) fn sort(cx: Cx<'_, '_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    sorted(cx, bound, 0)
}

pub(super) fn argsort(cx: Cx<'_, '_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    sorted(cx, bound, 1)
}

/// The elements that `indices` name along one dimension, the first when left out; those out of range are clamped.
pub(super) fn take(cx: Cx<'_, '_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let x = cx.tensor_of(bound.required(0))?;
    let indices = named(cx, bound, 1)?;
    let rank = cx.b.ty(x).rank();
    let dim = match bound.optional(2) {
        Some(given) => cx.one_dim(Some(given), rank, bound)?,
        None => 0,
    };
    cx.emit_tensor(bound.whole, |b| b.take(x, indices, dim)).map(|value| vec![value])
}

/// One element for each of `indices`, at the same place but for one dimension, the last when left out.
pub(super) fn gather(cx: Cx<'_, '_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let (x, dim) = along(cx, bound, 2)?;
    let indices = named(cx, bound, 1)?;
    cx.emit_tensor(bound.whole, |b| b.take_along_axis(x, indices, dim)).map(|value| vec![value])
}

/// A further dimension of `size` elements, last, that is 1 where it has the index and 0 elsewhere.
pub(super) fn one_hot(cx: Cx<'_, '_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let indices = named(cx, bound, 0)?;
    let (size, place) = bound.required(1);
    let Value::Int(count, _) = size else { return Err(cx.wrong_kind("a whole number", size, place)) };
    let Some(count) = i32::try_from(*count).ok().and_then(|count| usize::try_from(count).ok()).filter(|&n| n > 0)
    else {
        let error = Diagnostic::error(codes::SHAPE, format!("a dimension of {count} elements"));
        return Err(place.mark(error, "here").help("choose a size from 1 to 2^31 - 1"));
    };
    let dtype = cx.dtype_of(bound.optional(2), cx.float)?;
    let mut sizes: Vec<i64> = cx.b.shape(indices).iter().map(|&size| size as i64).collect();
    sizes.push(count as i64);
    let shape: Shape = cx.shape_of_sizes(&sizes, place)?;
    let hot = cx.emit_tensor(bound.whole, |b| {
        let last = shape.rank() - 1;
        let positions = b.iota(DType::S32, shape.clone(), last)?;
        let indices = b.broadcast_missing(indices, positions, &[last])?;
        let hit = b.compare(positions, indices, Direction::Eq)?;
        b.convert(hit, dtype)
    })?;
    if let Value::Tensor(tensor) = hot {
        let mut factors = vec![crate::ops::Factors::default(); shape.rank() - 1];
        factors.extend(size.sizes().iter().cloned());
        cx.sizes.know(tensor, &factors);
    }
    Ok(vec![hot])
}
