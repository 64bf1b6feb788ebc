//! Several tensors stored in one of `[.., ranks, rows, ..]`, for `unpack` and `tied_copies`.

use crate::attrs::{AttrKey, Attrs};
use crate::build::Builder;

use crate::op::{attr_error, require_dim};
use crate::syntax::Value;
use crate::ty::TensorType;
use halite_support::Result;
use halite_tensor::{Dims, Shape};
use std::ops::Range;

/// For each part, its rows in the share of one rank.
pub static ROWS: AttrKey<Vec<i64>> =
    AttrKey::optional("rows", Vec::new(), "for each part, its rows in the share of one rank");
/// For each part, how many ranks in a row hold the same.
pub static COPIES: AttrKey<Vec<i64>> =
    AttrKey::optional("copies", Vec::new(), "for each part, how many ranks in a row hold the same");

/// One of the tensors.
pub(super) struct Share {
    /// Its rows in the share of every rank.
    pub(super) rows: Range<usize>,
    /// The number of consecutive ranks that hold the same.
    pub(super) copies: usize,
}

/// The tensors in `x`, whose ranks are dimension `dim` and whose rows are the next one.
pub(super) fn shares(op: &str, attrs: &Attrs, x: &TensorType, dim: usize) -> Result<Vec<Share>> {
    require_dim(op, x, dim + 1)?;
    let (ranks, all) = (x.shape()[dim], x.shape()[dim + 1]);
    let (rows, copies) = (attrs.get(&ROWS)?, attrs.get(&COPIES)?);
    if rows.is_empty() || rows.len() != copies.len() {
        let message = format!("`rows` of `{op}` lists {} parts, `copies` {}", rows.len(), copies.len());
        return Err(attr_error(message).help("give one number for each part"));
    }
    let mut end = 0;
    let mut shares = Vec::with_capacity(rows.len());
    for (&rows, &copies) in rows.iter().zip(&copies) {
        let rows = usize::try_from(rows).ok().filter(|&rows| rows <= all - end);
        let copies = usize::try_from(copies).ok().filter(|&copies| copies > 0 && ranks.is_multiple_of(copies));
        let (Some(rows), Some(copies)) = (rows, copies) else {
            return Err(attr_error(format!("the parts that `{op}` states do not lie in `{x}`")));
        };
        shares.push(Share { rows: end..end + rows, copies });
        end += rows;
    }
    if end != all {
        return Err(attr_error(format!("the parts that `{op}` states have {end} rows, `{x}` has {all}")));
    }
    Ok(shares)
}

impl Share {
    /// Its rows of `x`, `[.., ranks, rows, ..]`.
    pub(super) fn own(&self, b: &mut Builder<'_>, x: Value, dim: usize) -> Result<Value> {
        b.slice_dim(x, dim + 1, self.rows.start, self.rows.end)
    }

    /// The same, as `[.., ranks / copies, copies, rows, ..]`.
    pub(super) fn grouped(&self, b: &mut Builder<'_>, x: Value, dim: usize) -> Result<Value> {
        let own = self.own(b, x, dim)?;
        let mut shape: Dims = b.shape(own).iter().copied().collect();
        shape[dim] /= self.copies;
        shape.insert(dim + 1, self.copies);
        b.reshape(own, shape.as_slice())
    }

    /// Reshapes a grouped value to `[.., ranks, rows, ..]` again.
    pub(super) fn ungrouped(b: &mut Builder<'_>, x: Value, dim: usize) -> Result<Value> {
        let mut shape: Dims = b.shape(x).iter().copied().collect();
        shape[dim] *= shape.remove(dim + 1);
        b.reshape(x, Shape::from(shape.as_slice()))
    }
}
