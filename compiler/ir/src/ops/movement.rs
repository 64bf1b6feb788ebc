//! Helpers of the ops that move elements. They hide no defaults.

use crate::dims::{FactorKind, FactorMap};
use crate::op::{attr_error, require_dim, shape_error};
use crate::ty::TensorType;
use halite_support::Result;
use halite_tensor::{DType, Dims, HostTensor, Indices, Shape};

/// A tensor whose element at each index is the element of `x` at the offset `source` gives.
pub(super) fn pick(x: &HostTensor, shape: &Shape, mut source: impl FnMut(&[usize]) -> usize) -> HostTensor {
    let size = x.dtype().size();
    let mut bytes = Vec::with_capacity(shape.num_elements() * size);
    for index in Indices::new(shape) {
        bytes.extend_from_slice(&x.bytes()[source(&index) * size..][..size]);
    }
    HostTensor::from_bytes(x.dtype(), shape.clone(), bytes).expect("one element for each position")
}

/// A copy of `x` where the element at each offset that `target` gives is the element of `update` at that index.
pub(super) fn place(
    x: &HostTensor,
    update: &HostTensor,
    mut target: impl FnMut(&[usize]) -> Option<usize>,
) -> HostTensor {
    let size = x.dtype().size();
    let mut bytes = x.bytes().to_vec();
    for (index, element) in Indices::new(update.shape()).zip(update.bytes().chunks_exact(size)) {
        if let Some(offset) = target(&index) {
            bytes[offset * size..][..size].copy_from_slice(element);
        }
    }
    HostTensor::from_bytes(x.dtype(), x.shape().clone(), bytes).expect("as many bytes as before")
}

/// The position of an index in row-major order.
pub(super) fn offset(index: &[usize], strides: &[usize]) -> usize {
    index.iter().zip(strides).map(|(at, stride)| at * stride).sum()
}

/// Checks that dimension numbers are within the rank of `ty` and increase strictly.
///
/// # Errors
/// Naming the dimensions and the type.
pub(super) fn require_increasing(op: &str, ty: &TensorType, dims: &[usize]) -> Result<()> {
    for &dim in dims {
        require_dim(op, ty, dim)?;
    }
    if dims.windows(2).all(|pair| pair[0] < pair[1]) {
        return Ok(());
    }
    Err(attr_error(format!("dimensions of `{op}` must increase, found {dims:?}")))
}

/// Checks that an attribute lists one number for each dimension.
///
/// # Errors
/// Naming the attribute and the type.
pub(super) fn require_each_dim(op: &str, attr: &str, ty: &TensorType, len: usize) -> Result<()> {
    if len == ty.rank() {
        return Ok(());
    }
    let rank = ty.rank();
    Err(attr_error(format!(
        "`{attr}` of `{op}` needs one number for each of the {rank} dimensions of `{ty}`, found {len}"
    )))
}

/// A type whose elements can be counted.
///
/// # Errors
/// When it has more bytes than fit in 63 bits.
pub(crate) fn require_countable(op: &str, dtype: DType, shape: Shape) -> Result<TensorType> {
    let bytes = shape.iter().try_fold(dtype.size(), |bytes, &size| bytes.checked_mul(size.max(1)));
    match bytes.and_then(|bytes| i64::try_from(bytes).ok()) {
        Some(_) => Ok(TensorType::new(dtype, shape)),
        None => Err(shape_error(format!("the result of `{op}`, `{dtype}{shape}`, has more bytes than fit in 63 bits"))),
    }
}

/// A map of one operand to one result of the same rank: the `mixed` dimensions correspond as wholes, the others position
/// by position.
pub(super) fn same_rank_dims(args: &[&TensorType], results: &[TensorType], mixed: impl Fn(usize) -> bool) -> FactorMap {
    let mut map = FactorMap::new(args, results);
    let (from, to) = (args[0].shape(), results[0].shape());
    for dim in 0..from.rank() {
        if mixed(dim) {
            map.link(from[dim], FactorKind::Mixed, &[(0, dim)], None);
            link_result(&mut map, to[dim], FactorKind::Mixed, dim);
        } else {
            map.link(from[dim], FactorKind::Parallel, &[(0, dim)], Some(dim));
        }
    }
    map
}

/// A map of one operand to one result of the same rank: dimensions for which there is a block correspond within blocks of that many
/// positions, and these as wholes; the others position by position.
pub(super) fn block_dims(
    args: &[&TensorType],
    results: &[TensorType],
    block: impl Fn(usize) -> Option<usize>,
) -> FactorMap {
    let mut map = FactorMap::new(args, results);
    let (from, to) = (args[0].shape(), results[0].shape());
    for dim in 0..from.rank() {
        let unit = block(dim).unwrap_or(from[dim]);
        if block(dim).is_some() {
            map.link(from[dim] / unit, FactorKind::Mixed, &[(0, dim)], None);
            link_result(&mut map, to[dim] / unit, FactorKind::Mixed, dim);
        }
        map.link(unit, FactorKind::Parallel, &[(0, dim)], Some(dim));
    }
    map
}

/// The largest number of positions of which all of these are multiples, at least 1.
pub(super) fn common_block(sizes: &[usize]) -> usize {
    let gcd = |mut x: usize, mut y: usize| {
        while y > 0 {
            (x, y) = (y, x % y);
        }
        x
    };
    sizes.iter().fold(0, |block, &size| gcd(block, size)).max(1)
}

/// Adds a factor that only the result has.
pub(super) fn link_result(map: &mut FactorMap, size: usize, kind: FactorKind, dim: usize) {
    map.link(size, kind, &[], Some(dim));
}

/// `dims` in increasing order.
pub(super) fn increasing(dims: &[usize]) -> Dims {
    let mut dims = Dims::from_slice(dims);
    dims.sort_unstable();
    dims
}
