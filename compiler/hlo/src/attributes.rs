//! Structured attributes, in sizes and dimension numbers instead of the signed integers of the messages.

mod window;

pub use window::{ConvDims, WindowDim};

use crate::proto;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::Dims;

/// Dimensions of a `dot`. The result has the batch dimensions, the free ones of the left side, those of the right side.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DotDims {
    /// Contracted dimensions of the left side.
    pub lhs_contracting: Dims,
    /// Contracted dimensions of the right side, paired with those of the left by position.
    pub rhs_contracting: Dims,
    /// Batch dimensions of the left side.
    pub lhs_batch: Dims,
    /// Batch dimensions of the right side, paired by position.
    pub rhs_batch: Dims,
}

/// Dimensions of a `gather`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GatherDims {
    /// Result dimensions that walk inside a slice, ascending.
    pub offset_dims: Dims,
    /// Operand dimensions of slice size 1 that the result lacks, ascending.
    pub collapsed_slice_dims: Dims,
    /// Operand dimension that each entry of an index vector addresses.
    pub start_index_map: Dims,
    /// Dimension of the indices that holds index vectors; their rank means vectors of one entry.
    pub index_vector_dim: usize,
    /// Operand dimensions that go along with batch dimensions of the indices, ascending.
    pub operand_batching_dims: Dims,
    /// The paired dimensions of the indices.
    pub indices_batching_dims: Dims,
}

/// Dimensions of a `scatter`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ScatterDims {
    /// Dimensions of the updates that walk inside a window, ascending.
    pub update_window_dims: Dims,
    /// Operand dimensions of window size 1 that the updates lack, ascending.
    pub inserted_window_dims: Dims,
    /// Operand dimension that each entry of an index vector addresses.
    pub scatter_dims_to_operand_dims: Dims,
    /// Dimension of the indices that holds index vectors; their rank means vectors of one entry.
    pub index_vector_dim: usize,
    /// Operand dimensions that go along with batch dimensions of the indices, ascending.
    pub operand_batching_dims: Dims,
    /// The paired dimensions of the indices.
    pub indices_batching_dims: Dims,
}

/// `start..limit` in steps of `stride` along one dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SliceDim {
    /// First position.
    pub start: usize,
    /// One past the last position.
    pub limit: usize,
    /// Step, at least 1.
    pub stride: usize,
}

/// Padding along one dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PadDim {
    /// Elements before the first; negative removes.
    pub low: i64,
    /// Elements after the last; negative removes.
    pub high: i64,
    /// Elements between neighbours.
    pub interior: usize,
}

/// The groups of ranks that act together: every rank in exactly one group, in the order that the op uses.
pub type ReplicaGroups = Vec<Vec<usize>>;

/// Dimension numbers as the messages hold them.
pub(crate) fn to_i64s<N: FromIterator<i64>>(dims: &[usize]) -> N {
    dims.iter().map(|dim| *dim as i64).collect()
}

/// Dimension numbers from a message.
pub(crate) fn to_dims(what: &str, numbers: &[i64]) -> Result<Dims> {
    numbers.iter().map(|number| to_dim(what, *number)).collect()
}

/// One dimension number or size from a message.
pub(crate) fn to_dim(what: &str, number: i64) -> Result<usize> {
    usize::try_from(number).map_err(|_| Diagnostic::error(codes::ATTRIBUTE, format!("{what} is negative ({number})")))
}

impl DotDims {
    /// The message form.
    pub fn to_proto(&self) -> proto::DotDimensionNumbers {
        proto::DotDimensionNumbers {
            lhs_contracting_dimensions: to_i64s(&self.lhs_contracting),
            rhs_contracting_dimensions: to_i64s(&self.rhs_contracting),
            lhs_batch_dimensions: to_i64s(&self.lhs_batch),
            rhs_batch_dimensions: to_i64s(&self.rhs_batch),
        }
    }

    /// Reads the message form; negative numbers are refused.
    pub fn from_proto(proto: &proto::DotDimensionNumbers) -> Result<Self> {
        Ok(Self {
            lhs_contracting: to_dims("a contracting dimension", &proto.lhs_contracting_dimensions)?,
            rhs_contracting: to_dims("a contracting dimension", &proto.rhs_contracting_dimensions)?,
            lhs_batch: to_dims("a batch dimension", &proto.lhs_batch_dimensions)?,
            rhs_batch: to_dims("a batch dimension", &proto.rhs_batch_dimensions)?,
        })
    }
}

impl GatherDims {
    /// The message form.
    pub fn to_proto(&self) -> proto::GatherDimensionNumbers {
        proto::GatherDimensionNumbers {
            offset_dims: to_i64s(&self.offset_dims),
            collapsed_slice_dims: to_i64s(&self.collapsed_slice_dims),
            start_index_map: to_i64s(&self.start_index_map),
            index_vector_dim: self.index_vector_dim as i64,
            operand_batching_dims: to_i64s(&self.operand_batching_dims),
            start_indices_batching_dims: to_i64s(&self.indices_batching_dims),
        }
    }

    /// Reads the message form; negative numbers are refused.
    pub fn from_proto(proto: &proto::GatherDimensionNumbers) -> Result<Self> {
        Ok(Self {
            offset_dims: to_dims("an offset dimension", &proto.offset_dims)?,
            collapsed_slice_dims: to_dims("a collapsed dimension", &proto.collapsed_slice_dims)?,
            start_index_map: to_dims("an index map entry", &proto.start_index_map)?,
            index_vector_dim: to_dim("the index vector dimension", proto.index_vector_dim)?,
            operand_batching_dims: to_dims("a batching dimension", &proto.operand_batching_dims)?,
            indices_batching_dims: to_dims("a batching dimension", &proto.start_indices_batching_dims)?,
        })
    }
}

impl ScatterDims {
    /// The message form.
    pub fn to_proto(&self) -> proto::ScatterDimensionNumbers {
        proto::ScatterDimensionNumbers {
            update_window_dims: to_i64s(&self.update_window_dims),
            inserted_window_dims: to_i64s(&self.inserted_window_dims),
            scatter_dims_to_operand_dims: to_i64s(&self.scatter_dims_to_operand_dims),
            index_vector_dim: self.index_vector_dim as i64,
            input_batching_dims: to_i64s(&self.operand_batching_dims),
            scatter_indices_batching_dims: to_i64s(&self.indices_batching_dims),
        }
    }

    /// Reads the message form; negative numbers are refused.
    pub fn from_proto(proto: &proto::ScatterDimensionNumbers) -> Result<Self> {
        Ok(Self {
            update_window_dims: to_dims("a window dimension", &proto.update_window_dims)?,
            inserted_window_dims: to_dims("an inserted dimension", &proto.inserted_window_dims)?,
            scatter_dims_to_operand_dims: to_dims("an index map entry", &proto.scatter_dims_to_operand_dims)?,
            index_vector_dim: to_dim("the index vector dimension", proto.index_vector_dim)?,
            operand_batching_dims: to_dims("a batching dimension", &proto.input_batching_dims)?,
            indices_batching_dims: to_dims("a batching dimension", &proto.scatter_indices_batching_dims)?,
        })
    }
}

impl SliceDim {
    /// The whole of a dimension of this size.
    pub fn whole(size: usize) -> Self {
        Self { start: 0, limit: size, stride: 1 }
    }

    pub(crate) fn to_proto(self) -> proto::SliceDimensions {
        proto::SliceDimensions { start: self.start as i64, limit: self.limit as i64, stride: self.stride as i64 }
    }

    /// Reads the message form; negative numbers are refused.
    pub fn from_proto(proto: &proto::SliceDimensions) -> Result<Self> {
        Ok(Self {
            start: to_dim("the start of a slice", proto.start)?,
            limit: to_dim("the limit of a slice", proto.limit)?,
            stride: to_dim("the stride of a slice", proto.stride)?,
        })
    }
}

impl PadDim {
    pub(crate) fn to_proto(self) -> proto::PaddingConfigDimension {
        proto::PaddingConfigDimension {
            edge_padding_low: self.low,
            edge_padding_high: self.high,
            interior_padding: self.interior as i64,
        }
    }

    /// Reads the message form; a negative interior is refused.
    pub fn from_proto(proto: &proto::PaddingConfigDimension) -> Result<Self> {
        Ok(Self {
            low: proto.edge_padding_low,
            high: proto.edge_padding_high,
            interior: to_dim("the interior padding", proto.interior_padding)?,
        })
    }
}

/// The message form of replica groups.
pub(crate) fn groups_to_proto(groups: &[Vec<usize>]) -> Vec<proto::ReplicaGroup> {
    groups.iter().map(|group| proto::ReplicaGroup { replica_ids: to_i64s(group) }).collect()
}

/// Reads replica groups; negative ranks are refused.
pub(crate) fn groups_from_proto(groups: &[proto::ReplicaGroup]) -> Result<ReplicaGroups> {
    let group = |group: &proto::ReplicaGroup| Ok(to_dims("a rank", &group.replica_ids)?.to_vec());
    groups.iter().map(group).collect()
}
