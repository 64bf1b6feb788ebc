//! Operand checks and evaluation of element-wise ops, with one operand and with two.

use crate::interpret::EvalCx;
use crate::lower::LowerCx;
use crate::op::{dtype_error, require_same};
use crate::ty::{TensorType, Types};
use halite_hlo::Id;
pub(crate) use halite_hlo::Takes;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};
use smallvec::smallvec;

/// Checks the element type of one operand.
///
/// # Errors
/// Naming what is needed and what was found.
pub(crate) fn require_elements(op: &str, takes: Takes, ty: &TensorType) -> Result<()> {
    let expected = match takes {
        Takes::Float => "a float",
        Takes::Int => "an integer",
        Takes::Number => "a float or an integer",
        Takes::Signed => "a float or a signed integer",
        Takes::Logic => "an integer or `pred`",
        Takes::Any => "a float, an integer or `pred`",
    };
    if takes.fits(ty.dtype()) { Ok(()) } else { Err(dtype_error(op, expected, ty)) }
}

/// One operand; the result has its type.
///
/// # Errors
/// On a wrong element type.
pub(crate) fn infer_unary(op: &str, takes: Takes, x: &TensorType) -> Result<Types> {
    require_elements(op, takes, x)?;
    Ok(smallvec![x.clone()])
}

/// Two operands of one type; the result has it too.
///
/// # Errors
/// On different types or a wrong element type.
pub(crate) fn infer_binary(op: &str, takes: Takes, x: &TensorType, y: &TensorType) -> Result<Types> {
    require_elements(op, takes, x)?;
    require_same(op, x, y)?;
    Ok(smallvec![x.clone()])
}

/// Applies a real function to each element, rounding once.
pub(crate) fn map_f64(cx: &EvalCx<'_>, x: &HostTensor, f: impl Fn(f64) -> f64) -> Vec<HostTensor> {
    vec![HostTensor::from_f64s(cx.result().dtype(), x.shape().clone(), x.f64s().into_iter().map(f))]
}

/// Applies an integer function to each element, wrapping to the result's width.
pub(crate) fn map_int(cx: &EvalCx<'_>, x: &HostTensor, f: impl Fn(i128) -> i128) -> Vec<HostTensor> {
    vec![HostTensor::from_ints(cx.result().dtype(), x.shape().clone(), x.ints().into_iter().map(f))]
}

/// Applies the real or the integer function to each element, as the element type says.
pub(crate) fn map_numbers(
    cx: &EvalCx<'_>,
    x: &HostTensor,
    real: impl Fn(f64) -> f64,
    int: impl Fn(i128) -> i128,
) -> Vec<HostTensor> {
    if x.dtype().is_float() { map_f64(cx, x, real) } else { map_int(cx, x, int) }
}

/// Applies a real function to each pair of elements, rounding once.
pub(crate) fn zip_f64(cx: &EvalCx<'_>, args: &[&HostTensor], f: impl Fn(f64, f64) -> f64) -> Vec<HostTensor> {
    let pairs = args[0].f64s().into_iter().zip(args[1].f64s());
    vec![HostTensor::from_f64s(cx.result().dtype(), args[0].shape().clone(), pairs.map(|(x, y)| f(x, y)))]
}

/// Applies an integer function to each pair of elements, wrapping to the result's width.
pub(crate) fn zip_int(cx: &EvalCx<'_>, args: &[&HostTensor], f: impl Fn(i128, i128) -> i128) -> Vec<HostTensor> {
    let pairs = args[0].ints().into_iter().zip(args[1].ints());
    vec![HostTensor::from_ints(cx.result().dtype(), args[0].shape().clone(), pairs.map(|(x, y)| f(x, y)))]
}

/// Applies the real or the integer function to each pair of elements, as the element type says.
pub(crate) fn zip_numbers(
    cx: &EvalCx<'_>,
    args: &[&HostTensor],
    real: impl Fn(f64, f64) -> f64,
    int: impl Fn(i128, i128) -> i128,
) -> Vec<HostTensor> {
    if args[0].dtype().is_float() { zip_f64(cx, args, real) } else { zip_int(cx, args, int) }
}

/// The bits of an integer of type `dtype`, zero-extended.
pub(crate) fn bits(dtype: DType, x: i128) -> u128 {
    x as u128 & ((1 << dtype.bits()) - 1)
}

/// The integer that the bits of `x` at the width of `dtype` mean in two's complement, for unsigned types too.
pub(crate) fn sign_extend(dtype: DType, x: i128) -> i128 {
    let unused = i128::BITS - dtype.bits();
    x << unused >> unused
}

/// The distance of a shift by `y`: `y` read as unsigned, and at most 127, which is more than every width.
pub(crate) fn shift_amount(dtype: DType, y: i128) -> u32 {
    bits(dtype, y).min(127) as u32
}

/// Broadcasts a scalar to the shape of the result in HLO; anything else stays as it is.
///
/// # Errors
/// Those of the builder.
pub(crate) fn repeat_scalar(cx: &mut LowerCx<'_>, x: Id) -> Result<Id> {
    let shape = cx.results[0].shape().clone();
    if cx.hlo.array(x)?.shape == shape { Ok(x) } else { cx.hlo.broadcast(x, &shape, &[]) }
}
