//! Messages on devices: which act together, and what each of them holds.

use prost::Message;

/// Ranks that act together, in order.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct ReplicaGroup {
    #[prost(int64, repeated, tag = "1")]
    pub replica_ids: Vec<i64>,
}

/// Groups as newer XLA versions store them: a list, or an iota that is reshaped and transposed.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct CollectiveDeviceListProto {
    #[prost(message, repeated, tag = "1")]
    pub replica_groups: Vec<ReplicaGroup>,
    #[prost(message, optional, tag = "2")]
    pub iota_replica_group_list: Option<IotaReplicaGroupListProto>,
}

/// Groups as a reshaped and transposed iota.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct IotaReplicaGroupListProto {
    #[prost(int64, tag = "1")]
    pub num_replica_groups: i64,
    #[prost(int64, tag = "2")]
    pub num_devices_per_group: i64,
    #[prost(int64, repeated, tag = "3")]
    pub iota_reshape_dims: Vec<i64>,
    #[prost(int32, repeated, tag = "4")]
    pub iota_transpose_perm: Vec<i32>,
}

/// Groups as axes of a mesh, or parts of axes.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct MeshAxesReplicaGroupListProto {
    #[prost(message, optional, tag = "1")]
    pub mesh: Option<MeshProto>,
    #[prost(message, repeated, tag = "2")]
    pub axes: Vec<AxisRefProto>,
}

/// Devices as a grid of axes, the major one first, in the order of their numbers where neither a list nor an iota gives another.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct MeshProto {
    #[prost(message, repeated, tag = "1")]
    pub axes: Vec<MeshAxis>,
    #[prost(int64, repeated, tag = "2")]
    pub device_ids: Vec<i64>,
    #[prost(message, optional, tag = "3")]
    pub iota_devices: Option<IotaDevices>,
}

/// Devices in the order of an iota that is reshaped and transposed.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct IotaDevices {
    #[prost(int64, repeated, tag = "1")]
    pub reshape_dims: Vec<i64>,
    #[prost(int32, repeated, tag = "2")]
    pub transpose_perm: Vec<i32>,
}

/// An axis of a mesh.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct MeshAxis {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(int64, tag = "2")]
    pub size: i64,
}

/// An axis of a mesh, or a part of it.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct AxisRefProto {
    #[prost(int64, tag = "1")]
    pub mesh_axis_index: i64,
    #[prost(message, optional, tag = "2")]
    pub sub_axis_info: Option<SubAxis>,
}

/// A part of an axis: `size` of its indices, above which there are `pre_size`.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct SubAxis {
    #[prost(int64, tag = "1")]
    pub pre_size: i64,
    #[prost(int64, tag = "2")]
    pub size: i64,
}

/// One edge of a collective permute.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct SourceTarget {
    #[prost(int64, tag = "1")]
    pub source: i64,
    #[prost(int64, tag = "2")]
    pub target: i64,
}

/// The sharding of an array over devices, or of each array of a tuple. Types: 0 replicated, 1 maximal, 2 tuple, 3 other, 4 manual, 5
/// unknown, 6 unreduced.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct OpSharding {
    #[prost(int32, tag = "1")]
    pub r#type: i32,
    #[prost(int64, repeated, tag = "3")]
    pub tile_assignment_dimensions: Vec<i64>,
    #[prost(int64, repeated, tag = "4")]
    pub tile_assignment_devices: Vec<i64>,
    #[prost(message, repeated, tag = "5")]
    pub tuple_shardings: Vec<OpSharding>,
    #[prost(bool, tag = "6")]
    pub replicate_on_last_tile_dim: bool,
    #[prost(int32, repeated, tag = "8")]
    pub last_tile_dims: Vec<i32>,
    #[prost(int64, repeated, tag = "9")]
    pub iota_reshape_dims: Vec<i64>,
    #[prost(int32, repeated, tag = "10")]
    pub iota_transpose_perm: Vec<i32>,
}
