//! Shardings of a tensor over the ranks of a mesh.

use crate::{HostTensor, Mesh, Shape, SubAxisId};
use halite_support::{Diagnostic, Result, codes};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// The ranks that hold an index of a dimension: those whose coordinate along a sub-axis of the mesh is `index / stride % size`.
///
/// Blocks are the case in which `stride * size` is the whole dimension. A smaller stride shares out each of several parts
/// that follow one another, such as the queries, keys and values of a merged projection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(from = "[usize; 3]", into = "[usize; 3]")]
pub struct DimShard {
    /// The sub-axis of the mesh.
    pub sub_axis: SubAxisId,
    /// Ranks along it.
    pub size: usize,
    /// The number of consecutive indices of the whole dimension on one rank.
    pub stride: usize,
}

impl From<[usize; 3]> for DimShard {
    fn from([sub_axis, size, stride]: [usize; 3]) -> Self {
        Self { sub_axis, size, stride }
    }
}

impl From<DimShard> for [usize; 3] {
    fn from(digit: DimShard) -> Self {
        [digit.sub_axis, digit.size, digit.stride]
    }
}

/// The sharding of one dimension: digits of its index, the one of the largest stride first.
pub type DimShards = SmallVec<[DimShard; 2]>;

/// The sharding of each dimension. Ranks that differ along other sub-axes hold the same.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Vec<DimShard>>", into = "Vec<Vec<DimShard>>")]
pub struct Sharding(pub SmallVec<[DimShards; 4]>);

impl Sharding {
    /// The whole tensor on each rank.
    pub fn replicated(rank: usize) -> Self {
        Self(SmallVec::from_elem(DimShards::new(), rank))
    }

    /// Whether each rank holds the whole.
    pub fn is_replicated(&self) -> bool {
        self.0.iter().all(|digits| digits.is_empty())
    }

    /// The same with another digit on a dimension.
    #[must_use]
    pub fn with(mut self, dim: usize, digit: DimShard) -> Self {
        let digits = &mut self.0[dim];
        let at = digits.iter().position(|other| other.stride < digit.stride).unwrap_or(digits.len());
        digits.insert(at, digit);
        self
    }

    /// The same without a sub-axis.
    #[must_use]
    pub fn without(mut self, sub_axis: SubAxisId) -> Self {
        for digits in &mut self.0 {
            digits.retain(|digit| digit.sub_axis != sub_axis);
        }
        self
    }

    /// The dimension and digit of a sub-axis, if it shards anything.
    pub fn find(&self, sub_axis: SubAxisId) -> Option<(usize, DimShard)> {
        let all = self.0.iter().enumerate().flat_map(|(dim, digits)| digits.iter().map(move |&digit| (dim, digit)));
        all.into_iter().find(|(_, digit)| digit.sub_axis == sub_axis)
    }

    /// The sub-axes that shard something.
    pub fn sub_axes(&self) -> impl Iterator<Item = SubAxisId> + '_ {
        self.0.iter().flatten().map(|digit| digit.sub_axis)
    }

    /// The shape of the shard that a rank holds of a tensor of this shape.
    pub fn local_shape(&self, shape: &Shape) -> Shape {
        let local =
            |(&size, digits): (&usize, &DimShards)| size / digits.iter().map(|digit| digit.size).product::<usize>();
        shape.iter().zip(&self.0).map(local).collect()
    }

    /// Whether it fits a tensor of these sizes: each digit divides what is left of its dimension, and no sub-axis stands twice.
    pub fn fits(&self, shape: &Shape) -> bool {
        let sub_axes: SmallVec<[SubAxisId; 8]> = self.sub_axes().collect();
        let once = sub_axes.iter().enumerate().all(|(position, sub_axis)| !sub_axes[..position].contains(sub_axis));
        once && self.0.len() == shape.rank()
            && shape.iter().zip(&self.0).all(|(&size, digits)| digits_fit(size, digits))
    }

    /// The shard that a rank holds of a tensor.
    ///
    /// # Errors
    /// When the tensor is of other sizes.
    pub fn shard(&self, mesh: &Mesh, whole: &HostTensor, rank: usize) -> Result<HostTensor> {
        if !self.fits(whole.shape()) {
            return Err(Diagnostic::error(codes::SHAPE, format!("{:?} cannot be sharded so", whole.shape())));
        }
        let width = whole.dtype().size();
        let local = self.local_shape(whole.shape());
        let mut bytes = Vec::with_capacity(local.num_elements() * width);
        for at in self.offsets(mesh, whole.shape(), rank) {
            bytes.extend_from_slice(&whole.bytes()[at * width..][..width]);
        }
        HostTensor::from_bytes(whole.dtype(), local, bytes).map_err(|_| Diagnostic::bug("a shard of another size"))
    }

    /// The tensor of these sizes of which each rank holds its part. Where several hold the same, the first one is believed.
    ///
    /// # Errors
    /// When the parts are not those of such a tensor.
    pub fn assemble(&self, mesh: &Mesh, shape: &Shape, parts: &[HostTensor]) -> Result<HostTensor> {
        let local = self.local_shape(shape);
        let wrong = parts.len() != mesh.num_ranks() || parts.iter().any(|part| *part.shape() != local);
        if wrong {
            return Err(no_shards(shape));
        }
        self.assemble_from(mesh, shape, parts.iter().enumerate().rev())
    }

    /// As [`assemble`](Self::assemble), of the parts of those ranks that together hold all. Where several hold the same, the last one
    /// is believed.
    ///
    /// # Errors
    /// When there are none, or they are not those of such a tensor.
    pub fn assemble_from<'a>(
        &self,
        mesh: &Mesh,
        shape: &Shape,
        parts: impl Iterator<Item = (usize, &'a HostTensor)>,
    ) -> Result<HostTensor> {
        let (local, mut parts) = (self.local_shape(shape), parts.peekable());
        let Some(first) = parts.peek().map(|(_, part)| *part).filter(|_| self.fits(shape)) else {
            return Err(no_shards(shape));
        };
        let width = first.dtype().size();
        let mut bytes = vec![0; shape.num_elements() * width];
        for (rank, part) in parts {
            if *part.shape() != local || part.dtype() != first.dtype() {
                return Err(no_shards(shape));
            }
            for (at, element) in self.offsets(mesh, shape, rank).zip(part.bytes().chunks_exact(width)) {
                bytes[at * width..][..width].copy_from_slice(element);
            }
        }
        HostTensor::from_bytes(first.dtype(), shape.clone(), bytes)
            .map_err(|_| Diagnostic::bug("shards of another size"))
    }

    /// The row-major positions in the whole of what a rank holds, in the order in which it does.
    fn offsets(&self, mesh: &Mesh, shape: &Shape, rank: usize) -> impl Iterator<Item = usize> + use<> {
        let strides = shape.strides();
        let local = self.local_shape(shape);
        let columns: Vec<Vec<usize>> = (0..shape.rank())
            .map(|dim| (0..local[dim]).map(|at| whole_index(mesh, &self.0[dim], rank, at) * strides[dim]).collect())
            .collect();
        let (count, local_strides) = (local.num_elements(), local.strides());
        (0..count).map(move |at| {
            let column = |(dim, column): (usize, &Vec<usize>)| column[at / local_strides[dim] % local[dim]];
            columns.iter().enumerate().map(column).sum()
        })
    }
}

impl From<Vec<Vec<DimShard>>> for Sharding {
    fn from(dims: Vec<Vec<DimShard>>) -> Self {
        Self(dims.into_iter().map(DimShards::from_vec).collect())
    }
}

impl From<Sharding> for Vec<Vec<DimShard>> {
    fn from(sharding: Sharding) -> Self {
        sharding.0.into_iter().map(|digits| digits.to_vec()).collect()
    }
}

fn no_shards(shape: &Shape) -> Diagnostic {
    Diagnostic::error(codes::SHAPE, format!("these are no shards of {shape:?}"))
}

/// The index in the whole dimension of what a rank holds at `at`.
fn whole_index(mesh: &Mesh, digits: &DimShards, rank: usize, at: usize) -> usize {
    digits.iter().rev().fold(at, |index, digit| {
        let (high, low) = (index / digit.stride, index % digit.stride);
        (high * digit.size + mesh.coordinate(digit.sub_axis, rank)) * digit.stride + low
    })
}

/// Whether these are digits of an index below `size`, the largest stride first, no two of which overlap.
fn digits_fit(size: usize, digits: &DimShards) -> bool {
    let mut above = size;
    digits.iter().all(|&DimShard { size, stride, .. }| {
        let span = size.checked_mul(stride);
        let fits = stride > 0 && span.is_some_and(|span| above.is_multiple_of(span));
        above = stride;
        fits
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;

    fn tensor(shape: impl Into<Shape>) -> HostTensor {
        let shape = shape.into();
        HostTensor::from_ints(DType::S32, shape.clone(), (0..shape.num_elements()).map(|at| at as i128))
    }

    fn shards(mesh: &Mesh, sharding: &Sharding, whole: &HostTensor) -> Vec<Vec<i128>> {
        (0..mesh.num_ranks()).map(|rank| sharding.shard(mesh, whole, rank).unwrap().ints()).collect()
    }

    #[test]
    fn blocks_and_parts_of_each_part() {
        let mesh = Mesh::new([("tensor", 2)]).unwrap();
        let digit = |stride| DimShard { sub_axis: 0, size: 2, stride };
        let whole = tensor([12]);
        let blocks = Sharding::replicated(1).with(0, digit(6));
        assert_eq!(shards(&mesh, &blocks, &whole), [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]);
        let thirds = Sharding::replicated(1).with(0, digit(2));
        assert_eq!(shards(&mesh, &thirds, &whole), [[0, 1, 4, 5, 8, 9], [2, 3, 6, 7, 10, 11]]);
    }

    #[test]
    fn digits_of_two_axes_share_a_dimension() {
        let mesh = Mesh::new([("data", 2), ("tensor", 2)]).unwrap();
        let on = |sub_axis, stride| DimShard { sub_axis, size: 2, stride };
        let sharding = Sharding::replicated(2).with(1, on(1, 1)).with(1, on(0, 4));
        let whole = tensor([1, 8]);
        assert_eq!(shards(&mesh, &sharding, &whole), [[0, 2], [1, 3], [4, 6], [5, 7]]);
        assert_eq!(sharding.local_shape(whole.shape())[..], [1, 2]);
    }

    #[test]
    fn shards_make_the_whole() {
        let mesh = Mesh::new([("data", 2), ("tensor", 6)]).unwrap();
        let on = |sub_axis, size, stride| DimShard { sub_axis, size, stride };
        let whole = tensor([4, 12, 3]);
        for sharding in [
            Sharding::replicated(3),
            Sharding::replicated(3).with(0, on(0, 2, 2)).with(1, on(1, 2, 6)).with(1, on(2, 3, 1)),
            Sharding::replicated(3).with(0, on(1, 2, 1)).with(2, on(2, 3, 1)).with(1, on(0, 2, 3)),
        ] {
            let parts: Vec<_> = (0..12).map(|rank| sharding.shard(&mesh, &whole, rank).unwrap()).collect();
            assert_eq!(sharding.assemble(&mesh, whole.shape(), &parts).unwrap(), whole);
        }
    }

    #[test]
    fn what_does_not_divide_does_not_fit() {
        let on = |sub_axis, size, stride| DimShard { sub_axis, size, stride };
        let fits = |sharding: Sharding| sharding.fits(&Shape::from([6, 4]));
        let none = || Sharding::replicated(2);
        assert!(fits(none().with(0, on(0, 3, 2)).with(0, on(1, 2, 1))));
        assert!(!fits(none().with(0, on(0, 4, 1))));
        assert!(!fits(none().with(0, on(0, 2, 3)).with(0, on(1, 2, 2))));
        assert!(!fits(none().with(0, on(0, 2, 3)).with(1, on(0, 2, 2))));
        assert!(!fits(Sharding::replicated(1)));
    }
}
