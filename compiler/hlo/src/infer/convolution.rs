//! Convolutions.

use super::contraction::multiplies;
use super::{attribute_error, require_count, require_distinct, require_same_dtype, shape_error};
use crate::attributes::{ConvDims, WindowDim};
use crate::types::ArrayType;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, Dims, Shape};

/// `convolution` of an input with a kernel; the result is of the same kind and no narrower, or of floats where these are integers.
/// `groups` are those of features and of batches, of which one is 1.
pub fn convolution(
    x: &ArrayType,
    kernel: &ArrayType,
    dims: &ConvDims,
    window: &[WindowDim],
    groups: (usize, usize),
    dtype: DType,
) -> Result<ArrayType> {
    require_same_dtype("convolution", x, kernel)?;
    if !multiplies(x.dtype, dtype) {
        return Err(Diagnostic::error(codes::DTYPE, format!("a convolution of {} cannot give {dtype}", x.dtype)));
    }
    for (what, order, ty) in [("input", &dims.input, x), ("kernel", &dims.kernel, kernel), ("output", &dims.output, x)]
    {
        require_count(&format!("{what} dimensions"), ty.rank().max(2), order.len())?;
        require_distinct(&format!("{what} dimension"), order, ty.rank())?;
    }
    require_count("dimensions of the kernel", x.rank(), kernel.rank())?;
    require_count("window dimensions", x.rank() - 2, window.len())?;
    let (batch, features) = grouped(x, kernel, dims, groups)?;
    let mut shape = Dims::from_elem(0, x.rank());
    (shape[dims.output[0]], shape[dims.output[1]]) = (batch, features);
    for (at, dim) in window.iter().enumerate() {
        let (own, size) = (x.shape[dims.input[at + 2]], kernel.shape[dims.kernel[at + 2]]);
        if dim.size != size {
            return Err(shape_error(format!("a window of size {} is not that of the kernel, {size}", dim.size)));
        }
        shape[dims.output[at + 2]] = dim.count(own)?;
    }
    Ok(ArrayType::new(dtype, Shape::from(shape)))
}

/// The sizes of batch and features of the result.
fn grouped(x: &ArrayType, kernel: &ArrayType, dims: &ConvDims, groups: (usize, usize)) -> Result<(usize, usize)> {
    let (batch, channels) = (x.shape[dims.input[0]], x.shape[dims.input[1]]);
    let (features, taken) = (kernel.shape[dims.kernel[0]], kernel.shape[dims.kernel[1]]);
    let (of_features, of_batches) = groups;
    if of_features == 0 || of_batches == 0 || (of_features > 1 && of_batches > 1) {
        return Err(attribute_error(format!(
            "groups of features or of batches needed, at least 1, found {of_features} and {of_batches}"
        )));
    }
    if channels % of_features != 0 || channels / of_features != taken {
        return Err(shape_error(format!(
            "the {channels} features of `{x}` in {of_features} groups are not the {taken} of the kernel `{kernel}`"
        )));
    }
    if features % (of_features * of_batches) != 0 || batch % of_batches != 0 {
        return Err(shape_error(format!(
            "`{x}` and the kernel `{kernel}` do not fall into {of_features} groups of features and {of_batches} of batches"
        )));
    }
    Ok((batch / of_batches, features))
}
