//! Helpers of the ops that read positions along one dimension from an operand.

use super::compare::Direction;
use crate::build::Builder;
use crate::op::{dtype_error, require_dim, shape_error};
use crate::syntax::Value;
use crate::ty::TensorType;
use halite_hlo::{ArrayType, Comparison, ComputationBuilder, Id, IndexFacts, ReduceKind, ScatterDims};
use halite_support::Result;
use halite_tensor::{DType, DimShards, Dims, HostTensor, Indices, Mesh, Shape};

/// Nothing is promised about the indices.
pub(super) const UNKNOWN: IndexFacts = IndexFacts { sorted: false, unique: false };

/// Checks that `indices` are `s32` and that `ty` has positions along `dim` that they can name.
///
/// # Errors
/// Naming the op and what was found.
pub(crate) fn require_indices(op: &str, ty: &TensorType, dim: usize, indices: &TensorType) -> Result<()> {
    require_dim(op, ty, dim)?;
    if indices.dtype() != DType::S32 {
        return Err(dtype_error(op, "indices of type `s32`", indices));
    }
    require_positions(op, ty, dim)
}

/// Checks that `ty` has positions along `dim`, and none that `s32` cannot name.
///
/// # Errors
/// Naming the op and what was found.
pub(super) fn require_positions(op: &str, ty: &TensorType, dim: usize) -> Result<()> {
    let size = ty.shape()[dim];
    let what = match i32::try_from(size) {
        Ok(1..) => return Ok(()),
        Ok(_) => "no positions".to_owned(),
        Err(_) => format!("more positions than `s32` can name, which are {}", i32::MAX),
    };
    Err(shape_error(format!("`{op}` along dimension {dim} of `{ty}` has {what}")))
}

/// Checks the type of a cotangent or the like against what is expected.
///
/// # Errors
/// Naming both.
pub(super) fn require_shape(op: &str, expected: &Shape, found: &TensorType) -> Result<()> {
    if found.shape() == expected {
        return Ok(());
    }
    Err(shape_error(format!("`{op}` needs an operand of shape {expected}, found `{found}`")))
}

/// The indices as positions below `size`: those out of range are clamped.
pub(super) fn clamped(indices: &HostTensor, size: usize) -> Vec<usize> {
    indices.ints().into_iter().map(|index| index.clamp(0, size as i128 - 1) as usize).collect()
}

/// The positions on this rank of the indices, which are clamped to the `size` of a sharded dimension, and a mask of the indices whose
/// positions this rank holds.
///
/// # Errors
/// Never for digits that fit the dimension.
pub(super) fn held(
    b: &mut Builder<'_>,
    mesh: &Mesh,
    (size, digits): (usize, &DimShards),
    indices: Value,
) -> Result<(Value, Value)> {
    let [first, last] = [0, size - 1].map(|at| b.splat(b.dtype(indices), Shape::scalar(), at as f64));
    let mut at = b.clamp(first?, indices, last?)?;
    let mut held = None;
    for &digit in digits {
        let [stride, size] = [digit.stride, digit.size].map(|number| b.splat_like(at, number as f64));
        let (stride, size) = (stride?, size?);
        let (block, low) = (b.divide(at, stride)?, b.remainder(at, stride)?);
        let (high, own) = (b.divide(block, size)?, b.remainder(block, size)?);
        let rank = b.coordinate(mesh, digit)?;
        let shape = b.shape(own).clone();
        let rank = b.broadcast_in_dim(rank, &[], shape)?;
        let here = b.compare(own, rank, Direction::Eq)?;
        held = Some(match held {
            Some(held) => b.and(held, here)?,
            None => here,
        });
        let high = b.multiply(high, stride)?;
        at = b.add(high, low)?;
    }
    let everywhere = match held {
        Some(held) => held,
        None => b.splat(DType::Pred, b.shape(at).clone(), 1.0)?,
    };
    Ok((at, everywhere))
}

/// `x` where `held`, whose dimensions are those of `x` from `dim` on, and zero elsewhere.
///
/// # Errors
/// When the shapes do not fit.
pub(super) fn zero_elsewhere(b: &mut Builder<'_>, held: Value, x: Value, dim: usize) -> Result<Value> {
    let dims: Dims = (dim..dim + b.shape(held).rank()).collect();
    let shape = b.shape(x).clone();
    let held = b.broadcast_in_dim(held, &dims, shape)?;
    let zero = b.splat_like(x, 0.0)?;
    b.select(held, x, zero)
}

/// The indices clamped in the program: some targets fail on positions outside instead of clamping.
pub(super) fn clamp_indices(hlo: &mut ComputationBuilder<'_>, indices: Id, size: usize) -> Result<Id> {
    let shape = hlo.array(indices)?.shape.clone();
    let mut bound = |value: usize| {
        let scalar = hlo.constant(&HostTensor::from_ints(DType::S32, Shape::scalar(), [value as i128]))?;
        hlo.broadcast(scalar, &shape, &[])
    };
    let (low, high) = (bound(0)?, bound(size - 1)?);
    hlo.clamp(low, indices, high)
}

/// `pred` of shape `shape`: whether the position along `dim` is the index; the other dimensions are those of `indices`.
pub(super) fn one_hot(hlo: &mut ComputationBuilder<'_>, indices: Id, shape: &Shape, dim: usize) -> Result<Id> {
    let others: Vec<_> = (0..shape.rank()).filter(|&other| other != dim).collect();
    let indices = hlo.broadcast(indices, shape, &others)?;
    let positions = hlo.iota(ArrayType::new(DType::S32, shape.clone()), dim)?;
    hlo.compare(Comparison::Eq, positions, indices)
}

/// `x` where `mask` holds, combined over `dim`: exact, since at most one element is taken when the mask is one-hot there.
pub(super) fn masked_sum(hlo: &mut ComputationBuilder<'_>, mask: Id, x: Id, dims: (&[usize], usize)) -> Result<Id> {
    let (from, over) = dims;
    let (shape, dtype) = (hlo.array(mask)?.shape.clone(), hlo.array(x)?.dtype);
    let kind = if dtype == DType::Pred { ReduceKind::Or } else { ReduceKind::Add };
    let x = hlo.broadcast(x, &shape, from)?;
    let zero = hlo.constant_scalar(dtype, 0.0)?;
    let zeros = hlo.broadcast(zero, &shape, &[])?;
    let taken = hlo.select(mask, x, zeros)?;
    hlo.reduce(kind, taken, zero, &[over])
}

/// The type in which sums of elements of type `dtype` are made: `f32` for narrower floats.
pub(super) fn wide(dtype: DType) -> DType {
    if dtype.is_narrow() { DType::F32 } else { dtype }
}

/// `x` in another element type, or itself when it has that type.
pub(super) fn convert(hlo: &mut ComputationBuilder<'_>, x: Id, dtype: DType) -> Result<Id> {
    if hlo.array(x)?.dtype == dtype { Ok(x) } else { hlo.convert(x, dtype) }
}

/// `x` under another shape, or itself when it has that shape.
pub(super) fn reshape(hlo: &mut ComputationBuilder<'_>, x: Id, shape: &Shape) -> Result<Id> {
    if &hlo.array(x)?.shape == shape { Ok(x) } else { hlo.reshape(x, shape) }
}

/// Sums of the elements or slices `ct` at the positions that `indices` name in zeros of shape `shape`.
pub(super) fn scatter_into_zeros(
    hlo: &mut ComputationBuilder<'_>,
    (ct, indices): (Id, Id),
    shape: &Shape,
    dims: &ScatterDims,
) -> Result<Id> {
    let zero = hlo.constant_scalar(hlo.array(ct)?.dtype, 0.0)?;
    let zeros = hlo.broadcast(zero, shape, &[])?;
    hlo.scatter(Some(ReduceKind::Add), zeros, indices, ct, dims, UNKNOWN)
}

/// Sums of elements at the offsets that `target` gives, each rounded or wrapped once.
pub(super) fn scatter_add(ct: &HostTensor, result: &TensorType, target: impl Fn(&[usize]) -> usize) -> HostTensor {
    let targets = Indices::new(ct.shape()).map(|index| target(&index));
    let (dtype, shape) = (result.dtype(), result.shape().clone());
    if dtype.is_float() {
        let mut sums = vec![0.0; shape.num_elements()];
        targets.zip(ct.f64s()).for_each(|(at, value)| sums[at] += value);
        HostTensor::from_f64s(dtype, shape, sums)
    } else {
        let mut sums = vec![0; shape.num_elements()];
        targets.zip(ct.ints()).for_each(|(at, value)| sums[at] += value);
        HostTensor::from_ints(dtype, shape, sums)
    }
}
