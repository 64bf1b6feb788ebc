//! Builtins that make, move or choose elements, and those that ask for sizes.

use super::Bound;
use crate::ops::broadcast::{fit, joint, repeat};
use crate::ops::{Ops, Place, Value};
use halite_ir::Value as Tensor;
use halite_ir::ops::Pad;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, Dims, Shape};

type Cx<'a, 'r> = &'a mut Ops<'r>;

impl Ops<'_> {
    pub(super) fn tensor_of(&self, (value, place): (&Value, Place<'_>)) -> Result<Tensor> {
        self.tensor(value, place)
    }

    pub(super) fn tensors_of(&self, (parts, place): (&Value, Place<'_>)) -> Result<Vec<Tensor>> {
        let Value::List(list) = parts else { return Err(self.wrong_kind("a list of tensors", parts, place)) };
        list.items.iter().map(|part| self.tensor(part, place)).collect()
    }

    /// One dimension below `rank`; the last one when left out.
    pub(super) fn one_dim(&self, given: Option<(&Value, Place<'_>)>, rank: usize, bound: &Bound<'_>) -> Result<usize> {
        match given {
            Some((value @ Value::Int(..), place)) => Ok(self.dims(value, rank, place)?[0]),
            Some((other, place)) => Err(self.wrong_kind("a dimension", other, place)),
            None if rank > 0 => Ok(rank - 1),
            None => Err(bound.whole.mark(Diagnostic::error(codes::SHAPE, "a scalar has no dimension"), "here")),
        }
    }

    /// Dimensions below `rank`; all of them when left out.
    pub(super) fn dims_of(&self, given: Option<(&Value, Place<'_>)>, rank: usize) -> Result<Dims> {
        given.map_or_else(|| Ok((0..rank).collect()), |(dims, place)| self.dims(dims, rank, place))
    }

    /// A truth value; false when left out.
    pub(super) fn flag_of(&self, given: Option<(&Value, Place<'_>)>) -> Result<bool> {
        match given {
            Some((Value::Bool(flag), _)) => Ok(*flag),
            Some((other, place)) => Err(self.wrong_kind("`true` or `false`", other, place)),
            None => Ok(false),
        }
    }

    pub(super) fn dtype_of(&self, given: Option<(&Value, Place<'_>)>, default: DType) -> Result<DType> {
        match given {
            Some((Value::Type(dtype), _)) => Ok(*dtype),
            Some((other, place)) => Err(self.wrong_kind("an element type", other, place)),
            None => Ok(default),
        }
    }
}

fn one(value: Value) -> Vec<Value> {
    vec![value]
}

/// The shape may leave one size open as -1.
pub(super) fn reshape(cx: Cx<'_, '_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let x = cx.tensor_of(bound.required(0))?;
    let (shape, place) = bound.required(1);
    let mut sizes = cx.ints_of(shape, place)?;
    if let Some(open) = sizes.iter().position(|&size| size == -1) {
        let total = cx.b.shape(x).num_elements() as i64;
        let rest = sizes.iter().enumerate().filter(|(dim, _)| *dim != open);
        let known = rest.map(|(_, &size)| size).try_fold(1i64, i64::checked_mul);
        sizes[open] = match known.filter(|&known| known > 0 && total % known == 0) {
            Some(known) => total / known,
            None => {
                let message =
                    format!("no size in place of -1 makes {sizes:?} hold the {total} elements of `{}`", cx.b.ty(x));
                return Err(place.mark(Diagnostic::error(codes::SHAPE, message), "this shape"));
            }
        };
    }
    let result = cx.shape_of_sizes(&sizes, place)?;
    let result = cx.emit_tensor(bound.whole, |b| b.reshape(x, result))?;
    if let Value::Tensor(tensor) = result {
        cx.sizes.know(tensor, &shape.sizes());
    }
    Ok(one(result))
}

/// Aligned at the last dimension; a size of 1 is repeated too.
pub(super) fn broadcast(cx: Cx<'_, '_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let x = cx.tensor_of(bound.required(0))?;
    let (shape, place) = bound.required(1);
    let shape = cx.shape_of(shape, place)?;
    cx.emit_tensor(bound.whole, |b| {
        repeat(b, x, &shape).unwrap_or_else(|| {
            let message = format!("`{}` cannot be repeated to shape {shape}", b.ty(x));
            Err(Diagnostic::error(codes::SHAPE, message))
        })
    })
    .map(one)
}

/// Without an order, the dimensions are reversed.
pub(super) fn transpose(cx: Cx<'_, '_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let x = cx.tensor_of(bound.required(0))?;
    let rank = cx.b.ty(x).rank();
    let order = match bound.optional(1) {
        Some((order, place)) => cx.dims(order, rank, place)?,
        None => (0..rank).rev().collect(),
    };
    cx.emit_tensor(bound.whole, |b| b.transpose(x, &order)).map(one)
}

pub(super) fn concat(cx: Cx<'_, '_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let tensors = cx.tensors_of(bound.required(0))?;
    let rank = tensors.first().map_or(0, |&tensor| cx.b.ty(tensor).rank());
    let dim = cx.one_dim(bound.optional(1), rank, bound)?;
    cx.emit_tensor(bound.whole, |b| b.concatenate(&tensors, dim)).map(one)
}

/// Every element at least `low` and at most `high`, each a number or a scalar.
pub(super) fn clamp(cx: Cx<'_, '_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let x = cx.tensor_of(bound.required(0))?;
    let dtype = cx.b.dtype(x);
    let limit = |cx: Cx<'_, '_>, (value, place): (&Value, Place<'_>)| match value {
        Value::Tensor(tensor) => Ok(*tensor),
        number => cx.fill(dtype, Shape::scalar(), number, place),
    };
    let (low, high) = (limit(cx, bound.required(1))?, limit(cx, bound.required(2))?);
    cx.emit_tensor(bound.whole, |b| b.clamp(low, x, high)).map(one)
}

/// Elements before and after those along each dimension, 0 when no value is given: `pad(x, [[0, 0], [1, 2]])`.
pub(super) fn pad(cx: Cx<'_, '_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let x = cx.tensor_of(bound.required(0))?;
    let rank = cx.b.ty(x).rank();
    let (widths, place) = bound.required(1);
    let mut pad = Pad::none(rank);
    let pairs = match widths {
        Value::List(list) if list.items.len() == rank => &list.items,
        other => return Err(cx.wrong_kind(&format!("a list of {rank} pairs, one for each dimension,"), other, place)),
    };
    for (dim, pair) in pairs.iter().enumerate() {
        match cx.ints_of(pair, place.item(dim))?[..] {
            [low, high] if low >= 0 && high >= 0 => (pad.low[dim], pad.high[dim]) = (low, high),
            _ => return Err(cx.wrong_kind("a pair of numbers of at least 0", pair, place.item(dim))),
        }
    }
    let sizes = cx.b.shape(x).iter().enumerate();
    let sizes = sizes.map(|(dim, &size)| (size as i64).saturating_add(pad.low[dim]).saturating_add(pad.high[dim]));
    cx.shape_of_sizes(&sizes.collect::<Vec<_>>(), place)?;
    let (dtype, zero) = (cx.b.dtype(x), Value::int(0));
    let (value, place) = bound.optional(2).unwrap_or((&zero, bound.whole));
    let value = cx.fill(dtype, Shape::scalar(), value, place)?;
    cx.emit_tensor(bound.whole, |b| b.emit(pad, &[x, value])).map(one)
}

/// Backwards along these dimensions, or all.
pub(super) fn reverse(cx: Cx<'_, '_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let x = cx.tensor_of(bound.required(0))?;
    let rank = cx.b.ty(x).rank();
    let mut dims = cx.dims_of(bound.optional(1), rank)?;
    dims.sort_unstable();
    cx.emit_tensor(bound.whole, |b| b.reverse(x, &dims)).map(one)
}

/// Equal parts of one dimension.
pub(super) fn split(cx: Cx<'_, '_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let x = cx.tensor_of(bound.required(0))?;
    let ty = cx.b.ty(x).clone();
    let dim = cx.one_dim(bound.optional(2), ty.rank(), bound)?;
    let size = ty.shape()[dim];
    let (parts, place) = bound.required(1);
    let Value::Int(count, _) = parts else { return Err(cx.wrong_kind("a whole number", parts, place)) };
    let Some(count) = usize::try_from(*count).ok().filter(|&count| count > 0 && size.is_multiple_of(count)) else {
        let message = format!("dimension {dim} ({size}) of `{ty}` does not split into {count} equal parts");
        return Err(place.mark(Diagnostic::error(codes::SHAPE, message), "here"));
    };
    let width = size / count;
    let part = |cx: Cx<'_, '_>, index| {
        cx.emit_tensor(bound.whole, |b| b.slice_dim(x, dim, index * width, (index + 1) * width))
    };
    (0..count)
        .map(|index| {
            cx.step(bound.whole)?;
            part(cx, index)
        })
        .collect()
}

pub(super) fn iota(cx: Cx<'_, '_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let (shape, place) = bound.required(0);
    let shape = cx.shape_of(shape, place)?;
    let dim = cx.one_dim(bound.optional(1), shape.rank(), bound)?;
    let dtype = cx.dtype_of(bound.optional(2), DType::S32)?;
    cx.emit_tensor(bound.whole, |b| b.iota(dtype, shape, dim)).map(one)
}

pub(super) fn full(cx: Cx<'_, '_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let (shape, place) = bound.required(0);
    let shape = cx.shape_of(shape, place)?;
    let dtype = cx.dtype_of(bound.optional(2), cx.float)?;
    let (value, place) = bound.required(1);
    let tensor = cx.fill(dtype, shape, value, place)?;
    Ok(one(Value::Tensor(tensor)))
}

pub(super) fn convert(cx: Cx<'_, '_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let x = cx.tensor_of(bound.required(0))?;
    let dtype = cx.dtype_of(bound.optional(1), cx.float)?;
    cx.emit_tensor(bound.whole, |b| b.convert(x, dtype)).map(one)
}

pub(super) fn select(cx: Cx<'_, '_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let condition = cx.tensor_of(bound.required(0))?;
    let (left, right) = (bound.required(1), bound.required(2));
    let (x, y) = match (left.0.as_real(), right.0.as_real()) {
        (Some(_), Some(_)) => {
            let is_whole = matches!((left.0, right.0), (Value::Int(..), Value::Int(..)));
            let (dtype, shape) = (if is_whole { DType::S32 } else { cx.float }, cx.b.shape(condition).clone());
            (cx.fill(dtype, shape.clone(), left.0, left.1)?, cx.fill(dtype, shape, right.0, right.1)?)
        }
        _ => cx.operands(left, right, bound.whole)?,
    };
    cx.emit_tensor(bound.whole, |b| {
        let shape = joint(b, condition, x)?;
        let (condition, x, y) = (fit(b, condition, &shape)?, fit(b, x, &shape)?, fit(b, y, &shape)?);
        b.select(condition, x, y)
    })
    .map(one)
}

pub(super) fn dim(cx: Cx<'_, '_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let x = cx.tensor_of(bound.required(0))?;
    let rank = cx.b.ty(x).rank();
    let dim = cx.one_dim(bound.optional(1), rank, bound)?;
    Ok(one(Value::Int(cx.b.shape(x)[dim] as i64, cx.sizes.dim(x, dim))))
}

pub(super) fn rank(cx: Cx<'_, '_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let x = cx.tensor_of(bound.required(0))?;
    Ok(one(Value::int(cx.b.ty(x).rank() as i64)))
}
