//! `len`, `stack`: lists, and tensors made of them.

use super::Bound;
use crate::ops::{Ops, Value};
use halite_support::Result;

pub(super) fn len(cx: &mut Ops<'_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    match bound.required(0) {
        (Value::List(list), _) => Ok(vec![Value::int(list.items.len() as i64)]),
        (other, place) => Err(cx.wrong_kind("a list", other, place)),
    }
}

/// Tensors of one shape along a new dimension, the first when left out.
pub(super) fn stack(cx: &mut Ops<'_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let tensors = cx.tensors_of(bound.required(0))?;
    let rank = tensors.first().map_or(0, |&tensor| cx.b.ty(tensor).rank());
    let dim = match bound.optional(1) {
        Some(given) => cx.one_dim(Some(given), rank + 1, bound)?,
        None => 0,
    };
    let stacked = cx.emit_tensor(bound.whole, |b| {
        let mut parts = Vec::with_capacity(tensors.len());
        for tensor in tensors {
            let mut sizes = b.shape(tensor).to_vec();
            sizes.insert(dim.min(sizes.len()), 1);
            parts.push(b.reshape(tensor, sizes.as_slice())?);
        }
        b.concatenate(&parts, dim)
    })?;
    Ok(vec![stacked])
}
