//! Ops that sum or otherwise combine along dimensions.

use super::{attribute_error, require_distinct, require_same_dtype, require_scalar, shape_error};
use crate::attributes::DotDims;
use crate::types::ArrayType;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, Dims, Shape};

/// Whether sums of products of elements of a type may be given in another one: in one of the same kind that is no narrower, and those of
/// integers as floats too. Those of `pred` are `pred`.
pub(super) fn multiplies(operands: DType, result: DType) -> bool {
    if operands.is_int() && result.is_float() {
        return true;
    }
    let kind = |dtype: DType| (dtype.is_float(), dtype.is_int(), dtype.is_signed());
    kind(operands) == kind(result) && result.size() >= operands.size()
}

/// `dot`: operands of one type; the result is of the same kind and no narrower, or of floats where they are integers.
pub fn dot(lhs: &ArrayType, rhs: &ArrayType, dims: &DotDims, dtype: DType) -> Result<ArrayType> {
    require_same_dtype("dot", lhs, rhs)?;
    if !multiplies(lhs.dtype, dtype) {
        return Err(Diagnostic::error(codes::DTYPE, format!("a dot of {} cannot give {dtype}", lhs.dtype)));
    }
    require_pairs("contracting", (lhs, &dims.lhs_contracting), (rhs, &dims.rhs_contracting))?;
    require_pairs("batch", (lhs, &dims.lhs_batch), (rhs, &dims.rhs_batch))?;
    let lhs_free = free_dims(lhs, &dims.lhs_batch, &dims.lhs_contracting)?;
    let rhs_free = free_dims(rhs, &dims.rhs_batch, &dims.rhs_contracting)?;
    let batch = dims.lhs_batch.iter().map(|dim| lhs.shape[*dim]);
    let free = lhs_free.iter().map(|dim| lhs.shape[*dim]).chain(rhs_free.iter().map(|dim| rhs.shape[*dim]));
    Ok(ArrayType::new(dtype, batch.chain(free).collect::<Shape>()))
}

fn require_pairs(
    what: &str,
    (lhs, lhs_dims): (&ArrayType, &[usize]),
    (rhs, rhs_dims): (&ArrayType, &[usize]),
) -> Result<()> {
    if lhs_dims.len() != rhs_dims.len() {
        return Err(attribute_error(format!("{what} dimensions {lhs_dims:?} and {rhs_dims:?} are not pairs")));
    }
    require_distinct(&format!("{what} dimension"), lhs_dims, lhs.rank())?;
    require_distinct(&format!("{what} dimension"), rhs_dims, rhs.rank())?;
    for (l, r) in lhs_dims.iter().zip(rhs_dims) {
        if lhs.shape[*l] != rhs.shape[*r] {
            let (a, b) = (lhs.shape[*l], rhs.shape[*r]);
            let pair = format!("{what} dimension {l} ({a}) meets dimension {r} ({b})");
            return Err(shape_error(format!("cannot multiply `{lhs}` by `{rhs}`: {pair}")));
        }
    }
    Ok(())
}

fn free_dims(x: &ArrayType, batch: &[usize], contracting: &[usize]) -> Result<Dims> {
    if let Some(dim) = batch.iter().find(|dim| contracting.contains(dim)) {
        return Err(attribute_error(format!("dimension {dim} is both batch and contracting")));
    }
    Ok((0..x.rank()).filter(|dim| !batch.contains(dim) && !contracting.contains(dim)).collect())
}

/// `reduce` of one operand over `dims`; `init` is a scalar of the same element type.
pub fn reduce(x: &ArrayType, init: &ArrayType, dims: &[usize]) -> Result<ArrayType> {
    require_same_dtype("reduce", x, init)?;
    require_scalar("the initial value of reduce", init)?;
    require_distinct("reduced dimension", dims, x.rank())?;
    let kept = (0..x.rank()).filter(|dim| !dims.contains(dim));
    Ok(ArrayType::new(x.dtype, kept.map(|dim| x.shape[dim]).collect::<Shape>()))
}
