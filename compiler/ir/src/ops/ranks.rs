//! What ops across ranks share: groups of ranks, in each of which the ranks act together in the listed order.

use super::movement::{offset, pick};
use crate::interpret::EvalCx;
use crate::op::{OpDef, arity, attr_error, require_dim, shape_error};
use crate::reduction::Reduction;
use crate::ty::TensorType;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{Dims, HostTensor, Shape};

/// Groups of ranks: every rank in exactly one.
pub type Groups = Vec<Vec<usize>>;

/// Groups that samples list.
pub(super) fn groups<const N: usize>(groups: [&[usize]; N]) -> Groups {
    groups.map(<[usize]>::to_vec).to_vec()
}

/// Checks that the groups hold each of the ranks `0..n` once and are of one size, which is returned.
///
/// # Errors
/// Naming the op and what is wrong.
fn require_groups(op: &str, groups: &[Vec<usize>]) -> Result<usize> {
    let mut ranks: Vec<usize> = groups.iter().flatten().copied().collect();
    ranks.sort_unstable();
    if ranks.is_empty() || ranks.iter().enumerate().any(|(position, &rank)| position != rank) {
        let message = format!("`groups` of `{op}` must hold each rank from 0 up once, found {groups:?}");
        return Err(attr_error(message));
    }
    let size = groups[0].len();
    if groups.iter().any(|group| group.len() != size) {
        return Err(attr_error(format!("`groups` of `{op}` must be of one size, found {groups:?}")));
    }
    Ok(size)
}

/// The operand of a collective over groups, and of how many ranks each group is.
///
/// # Errors
/// When there is not one operand, or as [`require_groups`].
pub(super) fn grouped<'t>(op: &str, groups: &[Vec<usize>], args: &[&'t TensorType]) -> Result<(&'t TensorType, usize)> {
    let [x] = arity(op, args)?;
    Ok((x, require_groups(op, groups)?))
}

/// Checks that dimension `dim` of `x` can be split evenly among `parts` ranks.
///
/// # Errors
/// Naming the dimension and the type.
pub(super) fn require_split(op: &str, x: &TensorType, dim: usize, parts: usize) -> Result<()> {
    require_dim(op, x, dim)?;
    if x.shape()[dim].is_multiple_of(parts) {
        return Ok(());
    }
    Err(shape_error(format!("`{op}` cannot split dimension {dim} of `{x}` evenly among {parts} ranks")))
}

/// Checks that the program runs on as many ranks as an instruction was made for.
///
/// # Errors
/// Naming both numbers.
pub(super) fn require_ranks(op: &str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Diagnostic::error(codes::EVALUATION, format!("`{op}` is for {expected} ranks, the program runs on {found}")))
}

/// What a program on one rank gets from an op across ranks.
///
/// # Errors
/// As [`OpDef::eval_ranks`].
pub(super) fn alone(op: &dyn OpDef, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
    Ok(op.eval_ranks(cx, &[args.to_vec()])?.swap_remove(0))
}

/// The results of a collective of one operand and one result: for each rank what `result` makes of the operands of its
/// group, in group order, and its position there.
///
/// # Errors
/// When the program runs on another number of ranks than the groups hold.
pub(super) fn exchange(
    op: &str,
    groups: &[Vec<usize>],
    args: &[Vec<&HostTensor>],
    result: impl Fn(&[&HostTensor], usize) -> HostTensor,
) -> Result<Vec<Vec<HostTensor>>> {
    require_ranks(op, groups.iter().map(Vec::len).sum(), args.len())?;
    let mut results = vec![Vec::new(); args.len()];
    for group in groups {
        let operands: Vec<&HostTensor> = group.iter().map(|&rank| args[rank][0]).collect();
        for (position, &rank) in group.iter().enumerate() {
            results[rank] = vec![result(&operands, position)];
        }
    }
    Ok(results)
}

/// The element-wise combination of tensors of one type.
pub(super) fn combined(kind: Reduction, operands: &[&HostTensor]) -> HostTensor {
    let (dtype, shape) = (operands[0].dtype(), operands[0].shape().clone());
    if dtype.is_float() {
        let columns: Vec<_> = operands.iter().map(|operand| operand.f64s()).collect();
        let start = kind.identity(dtype).f64s()[0];
        let fold = |at: usize| columns.iter().fold(start, |sum, column| kind.combine_f64(sum, column[at]));
        HostTensor::from_f64s(dtype, shape.clone(), (0..shape.num_elements()).map(fold))
    } else {
        let columns: Vec<_> = operands.iter().map(|operand| operand.ints()).collect();
        let start = kind.identity(dtype).ints()[0];
        let fold = |at: usize| columns.iter().fold(start, |sum, column| kind.combine_int(sum, column[at]));
        HostTensor::from_ints(dtype, shape.clone(), (0..shape.num_elements()).map(fold))
    }
}

/// Part `part` of `parts` equal ones of `x` along `dim`.
pub(super) fn part_of(x: &HostTensor, dim: usize, part: usize, parts: usize) -> HostTensor {
    let mut shape: Shape = x.shape().clone();
    shape[dim] /= parts;
    let strides = x.shape().strides();
    let first = part * shape[dim] * strides[dim];
    pick(x, &shape, |index| first + offset(index, &strides))
}

/// Tensors of one shape one after another along `dim`.
pub(super) fn joined(tensors: &[HostTensor], dim: usize) -> HostTensor {
    let (dtype, mut shape) = (tensors[0].dtype(), tensors[0].shape().clone());
    let width = shape[dim..].iter().product::<usize>() * dtype.size();
    let rows: usize = shape[..dim].iter().product();
    shape[dim] *= tensors.len();
    let row = |row: usize| tensors.iter().flat_map(move |tensor| &tensor.bytes()[row * width..][..width]);
    let bytes = (0..rows).flat_map(row).copied().collect();
    HostTensor::from_bytes(dtype, shape, bytes).expect("the parts fill the whole")
}

/// `dims` of a rank without `moved`, with `moved` put before what is then dimension `before`.
pub(super) fn move_dim(rank: usize, moved: usize, before: usize) -> Dims {
    let mut order: Dims = (0..rank).filter(|&dim| dim != moved).collect();
    order.insert(before, moved);
    order
}
