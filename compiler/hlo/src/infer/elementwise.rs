//! Ops that act on elements independently.

use super::{require_dtype, require_same_type, require_taken, shape_error};
use crate::opcode::{BinaryOp, UnaryOp};
use crate::types::ArrayType;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::DType;

/// A [`UnaryOp`]: the operand's type, unless the op gives other elements.
pub fn unary(op: UnaryOp, x: &ArrayType) -> Result<ArrayType> {
    require_taken(op, x, op.takes())?;
    Ok(x.with_dtype(op.gives(x.dtype)))
}

/// A [`BinaryOp`]: operands of one type, which is the result's.
pub fn binary(op: BinaryOp, x: &ArrayType, y: &ArrayType) -> Result<ArrayType> {
    require_same_type(op, x, y)?;
    require_taken(op, x, op.takes())?;
    Ok(x.clone())
}

/// `compare`: operands of one type, `pred` of the same shape.
pub fn compare(x: &ArrayType, y: &ArrayType) -> Result<ArrayType> {
    require_same_type("compare", x, y)?;
    Ok(x.with_dtype(DType::Pred))
}

/// `select`: a `pred` and two values, all of one shape.
pub fn select(condition: &ArrayType, on_true: &ArrayType, on_false: &ArrayType) -> Result<ArrayType> {
    require_same_type("select", on_true, on_false)?;
    require_dtype("the condition of select", condition, |dtype| dtype == DType::Pred, "pred")?;
    if condition.shape != on_true.shape {
        let message = format!("select takes a condition of the values' shape, found `{condition}` and `{on_true}`");
        return Err(shape_error(message));
    }
    Ok(on_true.clone())
}

/// `clamp`: lower bound, value and upper bound of one type.
pub fn clamp(low: &ArrayType, x: &ArrayType, high: &ArrayType) -> Result<ArrayType> {
    require_same_type("clamp", low, x)?;
    require_same_type("clamp", x, high)?;
    Ok(x.clone())
}

/// `convert` to another element type.
pub fn convert(x: &ArrayType, dtype: DType) -> ArrayType {
    x.with_dtype(dtype)
}

/// `bitcast-convert`: a narrower element type adds a last dimension, a wider one takes it away. `pred` has no bits to
/// cast.
pub fn bitcast_convert(x: &ArrayType, dtype: DType) -> Result<ArrayType> {
    if x.dtype == DType::Pred || dtype == DType::Pred {
        return Err(Diagnostic::error(codes::DTYPE, format!("cannot cast the bits of `{x}` to {dtype}")));
    }
    let (from, to) = (x.dtype.size(), dtype.size());
    let mut dims = x.shape.clone().into_dims();
    if from > to {
        dims.push(from / to);
    } else if from < to && dims.pop() != Some(to / from) {
        return Err(shape_error(format!("a cast of `{x}` to {dtype} needs a last dimension of {}", to / from)));
    }
    Ok(ArrayType::new(dtype, dims))
}
