//! Ops that combine the elements of windows.

use super::{attribute_error, require_count, require_same_dtype, require_scalar, shape_error};
use crate::attributes::WindowDim;
use crate::types::ArrayType;
use halite_support::Result;
use halite_tensor::Shape;

/// `reduce-window` of one operand, whose windows have a number for each dimension; `init` is a scalar of the same element type.
pub fn reduce_window(x: &ArrayType, init: &ArrayType, window: &[WindowDim]) -> Result<ArrayType> {
    require_same_dtype("reduce-window", x, init)?;
    require_scalar("the initial value of reduce-window", init)?;
    require_count("window dimensions", x.rank(), window.len())?;
    if window.iter().any(|dim| dim.reversed) {
        return Err(attribute_error("a window of reduce-window cannot run backwards"));
    }
    let counts = window.iter().zip(x.shape.iter()).map(|(dim, &whole)| dim.count(whole));
    Ok(ArrayType::new(x.dtype, counts.collect::<Result<Shape>>()?))
}

/// `select-and-scatter` of `source`, which has an element for each window of `x`.
pub fn select_and_scatter(
    x: &ArrayType,
    source: &ArrayType,
    init: &ArrayType,
    window: &[WindowDim],
) -> Result<ArrayType> {
    require_same_dtype("select-and-scatter", x, source)?;
    let windows = reduce_window(x, init, window)?;
    if window.iter().any(|dim| dim.base_dilation > 1 || dim.window_dilation > 1) {
        return Err(attribute_error("a window of select-and-scatter cannot be dilated"));
    }
    if windows.shape != source.shape {
        let message = format!("the windows of `{x}` are `{windows}`, and select-and-scatter has `{source}` for them");
        return Err(shape_error(message));
    }
    Ok(x.clone())
}
