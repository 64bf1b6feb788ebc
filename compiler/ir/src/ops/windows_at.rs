//! Helpers of the ops that address windows of a tensor by vectors of indices.

use super::compare::Direction;
use super::movement::offset;
use crate::attr::{Attr, AttrSlot};
use crate::build::Builder;
use crate::dims::{FactorKind, FactorMap};
use crate::reduction::Reduction;
use crate::syntax::Value;
use crate::ty::TensorType;
use halite_hlo::{ComputationBuilder, Id};
use halite_support::Result;
use halite_tensor::{DType, Dims, HostTensor, Shape};

/// How index vectors address windows of a tensor. The other tensor, slices or updates, has the dimensions of windows and,
/// in between, those of the indices without their vectors.
pub(super) struct Windows<'a> {
    /// Dimensions of the other tensor that walk inside a window, increasing.
    pub(super) walks: &'a [usize],
    /// Dimensions of the tensor of window size 1 that the other tensor lacks, increasing.
    pub(super) single: &'a [usize],
    /// The dimension of the tensor that each entry of an index vector addresses.
    pub(super) map: &'a [usize],
    /// The dimension of the indices that holds the vectors; their rank for vectors of one entry.
    pub(super) vector: usize,
    /// Dimensions of the tensor that go along with dimensions of the indices.
    pub(super) batching: &'a (Box<[usize]>, Box<[usize]>),
}

impl Windows<'_> {
    /// The dimensions of the tensor that windows have, in order.
    pub(super) fn kept(&self, rank: usize) -> Dims {
        (0..rank).filter(|dim| !self.single.contains(dim) && !self.batching.0.contains(dim)).collect()
    }

    /// The dimensions of the other tensor that do not walk inside a window, in order: those of the indices.
    pub(super) fn outer(&self, rank: usize) -> Dims {
        (0..rank).filter(|dim| !self.walks.contains(dim)).collect()
    }

    /// The dimensions of the indices without that of their vectors, in order.
    pub(super) fn indexing(&self, rank: usize) -> Dims {
        (0..rank).filter(|&dim| dim != self.vector).collect()
    }

    /// The window sizes for each dimension of the tensor, given the shape of the other tensor.
    pub(super) fn sizes(&self, rank: usize, other: &Shape) -> Dims {
        let mut sizes = Dims::from_elem(1, rank);
        for (dim, &walk) in self.kept(rank).into_iter().zip(self.walks) {
            sizes[dim] = other[walk];
        }
        sizes
    }

    /// The last position of each entry of an index vector at which its window lies inside.
    pub(super) fn limits(&self, tensor: &Shape, sizes: &[usize]) -> Dims {
        self.map.iter().map(|&dim| tensor[dim] - sizes[dim]).collect()
    }

    /// The first element of the window to which element `index` of the other tensor belongs, and its place inside.
    pub(super) fn place(&self, rank: usize, indices: (&Shape, &[i128]), index: &[usize]) -> (Vec<i128>, Dims) {
        let (shape, positions) = indices;
        let mut at = Dims::from_elem(0, shape.rank());
        for (dim, outer) in self.indexing(shape.rank()).into_iter().zip(self.outer(index.len())) {
            at[dim] = index[outer];
        }
        let (mut first, mut inside) = (vec![0; rank], Dims::from_elem(0, rank));
        for (&dim, &paired) in self.batching.0.iter().zip(&self.batching.1) {
            first[dim] = at[paired] as i128;
        }
        let strides = shape.strides();
        for (entry, &dim) in self.map.iter().enumerate() {
            if let Some(along) = at.get_mut(self.vector) {
                *along = entry;
            }
            first[dim] = positions[offset(&at, &strides)];
        }
        for (dim, &walk) in self.kept(rank).into_iter().zip(self.walks) {
            inside[dim] = index[walk];
        }
        (first, inside)
    }

    /// The indices clamped so that every window lies inside.
    ///
    /// # Errors
    /// Never for indices that fit the map.
    pub(super) fn clamped(&self, b: &mut Builder<'_>, indices: Value, limits: &[usize]) -> Result<Value> {
        let low = b.splat_like(indices, 0.0)?;
        let high = self.spread_limits(b, indices, limits)?;
        b.clamp(low, indices, high)
    }

    /// Whether the window of each element of the other tensor, of shape `other`, lies inside.
    ///
    /// # Errors
    /// Never for indices that fit the map.
    pub(super) fn is_inside(
        &self,
        b: &mut Builder<'_>,
        indices: Value,
        limits: &[usize],
        other: &Shape,
    ) -> Result<Value> {
        let low = b.splat_like(indices, 0.0)?;
        let high = self.spread_limits(b, indices, limits)?;
        let after = b.compare(indices, low, Direction::Ge)?;
        let before = b.compare(indices, high, Direction::Le)?;
        let mut inside = b.and(after, before)?;
        if self.vector < b.shape(indices).rank() {
            inside = b.reduce(Reduction::And, inside, &[self.vector])?;
        }
        b.broadcast_in_dim(inside, &self.outer(other.rank()), other.clone())
    }

    /// `limits` for every index vector.
    fn spread_limits(&self, b: &mut Builder<'_>, indices: Value, limits: &[usize]) -> Result<Value> {
        let (dtype, shape) = (b.dtype(indices), b.shape(indices).clone());
        let (limits, dims) = self.limits_of(dtype, limits, shape.rank());
        let limits = b.constant(limits)?;
        b.broadcast_in_dim(limits, &dims, shape)
    }

    /// Limits as a constant, and the dimensions of indices of rank `rank` that it has. No index of a narrow type is larger than the
    /// largest of its type.
    fn limits_of(&self, dtype: DType, limits: &[usize], rank: usize) -> (HostTensor, Dims) {
        let largest = dtype.int_range().map_or(i128::MAX, |(_, largest)| largest);
        let limits = limits.iter().map(|&limit| (limit as i128).min(largest));
        let is_vector = self.vector < rank;
        let shape = if is_vector { Shape::from([self.map.len()]) } else { Shape::scalar() };
        let dims = if is_vector { Dims::from_slice(&[self.vector]) } else { Dims::new() };
        (HostTensor::from_ints(dtype, shape, limits), dims)
    }

    /// [`clamped`](Self::clamped) in HLO: some targets fail on positions outside instead of clamping.
    pub(super) fn clamp(&self, hlo: &mut ComputationBuilder<'_>, indices: Id, limits: &[usize]) -> Result<Id> {
        let ty = hlo.array(indices)?.clone();
        let (limits, dims) = self.limits_of(ty.dtype, limits, ty.shape.rank());
        let (zero, high) = (hlo.constant_scalar(ty.dtype, 0.0)?, hlo.constant(&limits)?);
        let (low, high) = (hlo.broadcast(zero, &ty.shape, &[])?, hlo.broadcast(high, &ty.shape, &dims)?);
        hlo.clamp(low, indices, high)
    }
}

/// The value of an attribute that pairs no dimensions.
pub(super) fn no_pairs() -> Attr {
    (Dims::new(), Dims::new()).get()
}

/// Adds the factors of the indices, and of what goes along with them: dimensions of operand 0, of operands `others` that have those of
/// the result, and of the result.
pub(super) fn link_indices(
    map: &mut FactorMap,
    windows: &Windows<'_>,
    indices: &TensorType,
    others: &[usize],
    rank: usize,
) {
    let outer = windows.outer(rank);
    for (dim, at) in windows.indexing(indices.rank()).into_iter().zip(outer) {
        let paired = windows.batching.1.iter().position(|&paired| paired == dim).map(|at| windows.batching.0[at]);
        let operands = paired.map(|dim| (0, dim)).into_iter().chain([(1, dim)]);
        let operands: Vec<_> = operands.chain(others.iter().map(|&other| (other, at))).collect();
        let (kind, result) = match (others.is_empty(), paired) {
            (true, _) => (FactorKind::Parallel, Some(at)),
            (false, Some(paired)) => (FactorKind::Parallel, Some(paired)),
            (false, None) => (FactorKind::Contracted(None), None),
        };
        map.link(indices.shape()[dim], kind, &operands, result);
    }
    if let Some(&size) = indices.shape().get(windows.vector) {
        map.link(size, FactorKind::Contracted(None), &[(1, windows.vector)], None);
    }
}
