//! `sum`, `max`, `min`, `mean`: over some dimensions, or over all when none are named.

use super::Bound;
use crate::ops::infix::undivided;
use crate::ops::{Ops, Value};
use halite_ir::ops::Reduction;
use halite_ir::{Builder, Value as Tensor};
use halite_support::Result;
use halite_tensor::{Dims, Shape};

pub(super) fn reduce(cx: &mut Ops<'_>, reduction: Reduction, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let (x, dims, keep) = operands(cx, bound)?;
    let value = cx.emit_tensor(bound.whole, |b| reduced(b, reduction, x, &dims, keep))?;
    Ok(vec![value])
}

/// The sum, divided by the number of elements it adds up.
pub(super) fn mean(cx: &mut Ops<'_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let (x, dims, keep) = operands(cx, bound)?;
    if !cx.b.dtype(x).is_float() {
        let error = undivided(&format!("the sum of `{}` by how many it adds up", cx.b.ty(x)));
        return Err(bound.whole.mark(error, "here"));
    }
    let count: usize = dims.iter().map(|&dim| cx.b.shape(x)[dim]).product();
    let value = cx.emit_tensor(bound.whole, |b| {
        let sum = reduced(b, Reduction::Sum, x, &dims, keep)?;
        let count = b.splat_like(sum, count as f64)?;
        b.divide(sum, count)
    })?;
    Ok(vec![value])
}

fn operands(cx: &mut Ops<'_>, bound: &Bound<'_>) -> Result<(Tensor, Dims, bool)> {
    let x = cx.tensor_of(bound.required(0))?;
    let rank = cx.b.ty(x).rank();
    Ok((x, cx.dims_of(bound.optional(1), rank)?, cx.flag_of(bound.optional(2))?))
}

fn reduced(b: &mut Builder<'_>, reduction: Reduction, x: Tensor, dims: &[usize], keep: bool) -> Result<Tensor> {
    let mut kept = b.shape(x).clone();
    let mut sorted = Dims::from_slice(dims);
    sorted.sort_unstable();
    let result = b.reduce(reduction, x, &sorted)?;
    if !keep {
        return Ok(result);
    }
    dims.iter().for_each(|&dim| kept[dim] = 1);
    b.reshape(result, Shape::from(kept.into_dims()))
}
