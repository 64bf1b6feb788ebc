//! Helpers of the ops that take their start positions as operands.

use crate::op::{dtype_error, shape_error};
use crate::ty::TensorType;
use halite_hlo::{ComputationBuilder, Id};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, HostTensor, Shape};

/// Checks that `leading` operands are followed by one `s32` scalar for each dimension of the first, and returns that.
///
/// # Errors
/// Naming the op and what was found.
pub(super) fn require_starts<'t>(op: &str, leading: usize, args: &[&'t TensorType]) -> Result<&'t TensorType> {
    let expected = args.first().map_or(leading, |x| leading + x.rank());
    if args.len() != expected || args.len() < leading {
        let message = format!("`{op}` takes {expected} operands, found {}", args.len());
        return Err(Diagnostic::error(codes::ARITY, message).help("it needs one start for each dimension"));
    }
    if let Some(dim) = args[0].shape().iter().position(|&size| i32::try_from(size).is_err()) {
        return Err(shape_error(format!(
            "`{op}` cannot reach all of dimension {dim} of `{}` with `s32` starts",
            args[0]
        )));
    }
    for start in &args[leading..] {
        if start.dtype() != DType::S32 || start.rank() != 0 {
            return Err(dtype_error(op, "starts of type `s32[]`", start));
        }
    }
    Ok(args[0])
}

/// Checks that a part of these sizes fits in `x`.
///
/// # Errors
/// Naming the sizes and the type.
pub(super) fn require_inside(op: &str, x: &TensorType, sizes: &[usize]) -> Result<()> {
    if sizes.len() == x.rank() && sizes.iter().zip(x.shape().iter()).all(|(part, whole)| part <= whole) {
        return Ok(());
    }
    Err(shape_error(format!("`{op}` of a part of sizes {sizes:?} does not fit in `{x}`")))
}

/// The offset in `whole` of the first element of a part, after clamping its starts.
pub(super) fn first_offset(whole: &Shape, part: &[usize], starts: &[&HostTensor]) -> usize {
    let clamp = |dim: usize| starts[dim].ints()[0].clamp(0, (whole[dim] - part[dim]) as i128) as usize;
    whole.strides().iter().enumerate().map(|(dim, stride)| clamp(dim) * stride).sum()
}

/// The starts, clamped in the program: some targets fail on positions outside instead of clamping.
pub(super) fn clamp_starts(
    hlo: &mut ComputationBuilder<'_>,
    whole: &Shape,
    part: &[usize],
    starts: &[Id],
) -> Result<Vec<Id>> {
    let clamp = |(dim, &start): (usize, &Id)| {
        let zero = hlo.constant_scalar(DType::S32, 0.0)?;
        match whole[dim] - part[dim] {
            0 => Ok(zero),
            last => {
                let last = hlo.constant(&HostTensor::from_ints(DType::S32, Shape::scalar(), [last as i128]))?;
                hlo.clamp(zero, start, last)
            }
        }
    };
    starts.iter().enumerate().map(clamp).collect()
}
