//! Helpers of the ops across ranks: groups of ranks, in each of which the ranks act together in the listed order.

use super::movement::{offset, pick};
use crate::dims::{FactorKind, FactorMap};
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{OpDef, Vjp, VjpCx, attr_error, require_dim, shape_error};
use crate::reduction::Reduction;
use crate::syntax::Value;
use crate::ty::TensorType;
use halite_hlo::{ComputationBuilder, Id};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{Dims, Groups, HostTensor, Shape};

/// Groups that samples list.
pub(super) fn groups<const N: usize>(groups: [&[usize]; N]) -> Groups {
    groups.map(<[usize]>::to_vec).to_vec().into()
}

/// Checks that the groups hold each of the ranks from 0 up once and are of one size, which is returned.
///
/// # Errors
/// Naming the op and the groups.
fn require_groups(op: &str, groups: &Groups) -> Result<usize> {
    groups.size().ok_or_else(|| {
        let wanted = "must be of one size and hold each rank from 0 up once";
        attr_error(format!("`groups` of `{op}` {wanted}, found {groups}"))
    })
}

/// Checks that a collective over groups has operands of one element type, and of how many ranks each group is.
///
/// # Errors
/// When there is no operand or element types differ, or as [`require_groups`].
pub(super) fn grouped(op: &str, groups: &Groups, args: &[&TensorType]) -> Result<usize> {
    let Some(first) = args.first() else {
        return Err(Diagnostic::error(codes::ARITY, format!("`{op}` needs an operand, found none")));
    };
    if let Some(other) = args.iter().find(|ty| ty.dtype() != first.dtype()) {
        let message = format!("`{op}` needs operands of one element type, found `{first}` and `{other}`");
        return Err(Diagnostic::error(codes::DTYPE, message));
    }
    require_groups(op, groups)
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

/// Evaluates an op across ranks in a program on one rank.
///
/// # Errors
/// As [`OpDef::eval_ranks`].
pub(super) fn alone(op: &dyn OpDef, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
    Ok(op.eval_ranks(cx, &[args.to_vec()])?.swap_remove(0))
}

/// The results of a collective for each rank and operand. `result` computes one from the operands of the rank's group, in group order,
/// and the rank's position in the group.
///
/// # Errors
/// When the program runs on another number of ranks than the groups hold.
pub(super) fn exchange(
    op: &str,
    groups: &Groups,
    args: &[Vec<&HostTensor>],
    result: impl Fn(&[&HostTensor], usize) -> HostTensor,
) -> Result<Vec<Vec<HostTensor>>> {
    require_ranks(op, groups.ranks(), args.len())?;
    let mut results = vec![Vec::new(); args.len()];
    for group in groups.lists() {
        let of_group: Vec<&[&HostTensor]> = group.iter().map(|&rank| &args[rank][..]).collect();
        for at in 0..of_group.first().map_or(0, |operands| operands.len()) {
            let operands: Vec<&HostTensor> = of_group.iter().map(|operands| operands[at]).collect();
            for (position, &rank) in group.iter().enumerate() {
                results[rank].push(result(&operands, position));
            }
        }
    }
    Ok(results)
}

/// The map of an op that treats each operand by itself: dimensions correspond position by position, but those that are `mixed`.
pub(super) fn each_dims(args: &[&TensorType], results: &[TensorType], mixed: impl Fn(usize) -> bool) -> FactorMap {
    let mut map = FactorMap::new(args, results);
    for (at, (arg, result)) in args.iter().zip(results).enumerate() {
        for dim in 0..arg.rank() {
            let kind = if mixed(dim) { FactorKind::Mixed } else { FactorKind::Parallel };
            let factor = map.factor(arg.shape()[dim], kind);
            map.operands[at][dim].push(factor);
            let factor = if mixed(dim) { map.factor(result.shape()[dim], kind) } else { factor };
            map.results[at][dim].push(factor);
        }
    }
    map
}

/// The cotangents of the operands that want one. `rule` computes each from the cotangent of the result at the same position, if that
/// has one.
///
/// # Errors
/// Those of `rule`.
pub(super) fn each_vjp(cx: &VjpCx<'_>, mut rule: impl FnMut(usize, Value) -> Result<Value>) -> Result<Vjp> {
    let one = |(at, ct): (usize, &Option<Value>)| ct.filter(|_| cx.wanted[at]).map(|ct| rule(at, ct)).transpose();
    Ok(Vjp::of(cx.cts.iter().enumerate().map(one).collect::<Result<Vec<_>>>()?))
}

/// The HLO of a collective: one instruction for all operands where `together`, else one for each. CPU XLA takes several along the first
/// dimension alone, and none with channels: along another it mixes up their elements, and with channels it finds no layout for them.
/// The `reduce_scatter` of StableHLO has one operand.
///
/// # Errors
/// Those of `emit`.
pub(super) fn lower_each(
    cx: &mut LowerCx<'_>,
    args: &[Id],
    together: bool,
    emit: impl Fn(&mut ComputationBuilder<'_>, &[Id]) -> Result<Vec<Id>>,
) -> Result<Ids> {
    let at_once = if together && !cx.options.collectives.channels { args.len().max(1) } else { 1 };
    let mut results = Ids::new();
    for args in args.chunks(at_once) {
        results.extend(emit(&mut cx.hlo, args)?);
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
