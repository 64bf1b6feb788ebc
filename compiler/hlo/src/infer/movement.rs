//! Ops that move elements by static positions.

use super::{
    attribute_error, require_ascending, require_count, require_distinct, require_same_dtype, require_scalar,
    shape_error,
};
use crate::attributes::{PadDim, SliceDim};
use crate::types::ArrayType;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, Shape};

/// `iota` counting along `dimension`.
pub fn iota(result: &ArrayType, dimension: usize) -> Result<()> {
    require_distinct("iota dimension", &[dimension], result.rank())?;
    super::require_dtype("iota", result, |dtype| dtype != DType::Pred, "integer or float")
}

/// `broadcast`: operand dimension `i` becomes result dimension `dims[i]`; the others repeat.
pub fn broadcast(x: &ArrayType, shape: &Shape, dims: &[usize]) -> Result<ArrayType> {
    require_count("broadcast dimensions", x.rank(), dims.len())?;
    require_ascending("broadcast dimension", dims, shape.rank())?;
    for (from, to) in dims.iter().enumerate() {
        if x.shape[from] != shape[*to] {
            let message = format!("cannot broadcast `{x}` to `{shape}`: dimension {from} becomes {to}");
            return Err(shape_error(message));
        }
    }
    Ok(ArrayType::new(x.dtype, shape.clone()))
}

/// `reshape` to a shape of as many elements.
pub fn reshape(x: &ArrayType, shape: &Shape) -> Result<ArrayType> {
    let result = ArrayType::new(x.dtype, shape.clone());
    match (x.num_elements(), result.num_elements()) {
        (Some(from), Some(to)) if from == to => Ok(result),
        _ => Err(shape_error(format!("cannot reshape `{x}` to `{shape}`: the numbers of elements differ"))),
    }
}

/// `transpose`: result dimension `i` is operand dimension `permutation[i]`.
pub fn transpose(x: &ArrayType, permutation: &[usize]) -> Result<ArrayType> {
    require_count("permuted dimensions", x.rank(), permutation.len())?;
    require_distinct("permuted dimension", permutation, x.rank())?;
    Ok(ArrayType::new(x.dtype, permutation.iter().map(|dim| x.shape[*dim]).collect::<Shape>()))
}

/// `reverse` along some dimensions.
pub fn reverse(x: &ArrayType, dims: &[usize]) -> Result<ArrayType> {
    require_distinct("reversed dimension", dims, x.rank())?;
    Ok(x.clone())
}

/// `slice` with one range per dimension.
pub fn slice(x: &ArrayType, ranges: &[SliceDim]) -> Result<ArrayType> {
    require_count("slice ranges", x.rank(), ranges.len())?;
    let mut shape = x.shape.clone();
    for (dim, range) in ranges.iter().enumerate() {
        if range.stride == 0 || range.start > range.limit || range.limit > shape[dim] {
            let SliceDim { start, limit, stride } = range;
            return Err(attribute_error(format!(
                "the range {start}:{limit}:{stride} does not fit dimension {dim} of `{x}`"
            )));
        }
        shape[dim] = (range.limit - range.start).div_ceil(range.stride);
    }
    Ok(ArrayType::new(x.dtype, shape))
}

/// `pad` with a scalar, one padding per dimension.
pub fn pad(x: &ArrayType, value: &ArrayType, padding: &[PadDim]) -> Result<ArrayType> {
    require_same_dtype("pad", x, value)?;
    require_scalar("the padding value", value)?;
    require_count("paddings", x.rank(), padding.len())?;
    let mut shape = x.shape.clone();
    for (dim, padding) in padding.iter().enumerate() {
        let gaps = (shape[dim] as i128 - 1).max(0);
        let size =
            shape[dim] as i128 + gaps * padding.interior as i128 + i128::from(padding.low) + i128::from(padding.high);
        shape[dim] = usize::try_from(size)
            .map_err(|_| shape_error(format!("padding dimension {dim} of `{x}` gives the size {size}")))?;
    }
    Ok(ArrayType::new(x.dtype, shape))
}

/// `concatenate` along `dimension`; all other sizes agree.
pub fn concatenate(operands: &[&ArrayType], dimension: usize) -> Result<ArrayType> {
    let Some((first, rest)) = operands.split_first() else {
        return Err(Diagnostic::error(codes::ARITY, "concatenate takes at least one operand, found none"));
    };
    require_distinct("concatenated dimension", &[dimension], first.rank())?;
    let mut result = (*first).clone();
    for operand in rest {
        require_same_dtype("concatenate", first, operand)?;
        let agrees = |dim: usize| dim == dimension || operand.shape[dim] == first.shape[dim];
        if operand.rank() != first.rank() || !(0..first.rank()).all(agrees) {
            return Err(shape_error(format!(
                "cannot concatenate `{first}` and `{operand}` along dimension {dimension}"
            )));
        }
        let sum = result.shape[dimension].checked_add(operand.shape[dimension]);
        result.shape[dimension] = sum.ok_or_else(|| shape_error("the concatenated size does not fit in 64 bits"))?;
    }
    Ok(result)
}
