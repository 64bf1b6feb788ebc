//! Instructions. A module has up to millions, so that what most lack stands apart, and what many have alike is shared.

use super::field::Field;
use super::{
    CollectiveDeviceListProto, ConvolutionDimensionNumbers, DotDimensionNumbers, FrontendAttributes,
    GatherDimensionNumbers, IotaReplicaGroupListProto, LiteralProto, MeshAxesReplicaGroupListProto, Name, Numbers,
    OpMetadata, OpSharding, PaddingConfig, PrecisionConfig, ReplicaGroup, ScatterDimensionNumbers, ShapeProto, Shared,
    SharedList, SliceDimensions, SourceTarget, Window,
};
use prost::bytes::{Buf, BufMut};
use prost::encoding::{DecodeContext, WireType, skip_field};
use prost::{DecodeError, Message};
use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::LazyLock;

/// One instruction. Which attribute fields count depends on `opcode`; those that few instructions have are fields of [`RareFields`], which
/// this derefs to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HloInstructionProto {
    pub name: Name,
    pub opcode: Cow<'static, str>,
    pub shape: Option<Shared<ShapeProto>>,
    pub metadata: Option<Shared<OpMetadata>>,
    pub literal: Option<Box<LiteralProto>>,
    pub parameter_number: i64,
    pub tuple_index: i64,
    pub dimensions: Numbers,
    pub dot_dimension_numbers: Option<Box<DotDimensionNumbers>>,
    pub id: i64,
    pub operand_ids: Numbers,
    pub called_computation_ids: Numbers,
    pub precision_config: Option<Box<PrecisionConfig>>,
    pub frontend_attributes: Option<Box<FrontendAttributes>>,
    pub rare: Rare,
}

/// The fields of an instruction that few have.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RareFields {
    pub fusion_kind: String,
    pub window: Option<Box<Window>>,
    pub convolution_dimension_numbers: Option<Box<ConvolutionDimensionNumbers>>,
    pub slice_dimensions: Vec<SliceDimensions>,
    pub exponent_bits: i32,
    pub mantissa_bits: i32,
    pub dynamic_slice_sizes: Vec<i64>,
    pub padding_config: Option<Box<PaddingConfig>>,
    pub channel_id: i64,
    pub custom_call_target: String,
    pub gather_dimension_numbers: Option<Box<GatherDimensionNumbers>>,
    pub gather_slice_sizes: Vec<i64>,
    pub control_predecessor_ids: Vec<i64>,
    pub sharding: Option<Box<OpSharding>>,
    pub backend_config: Vec<u8>,
    pub scatter_dimension_numbers: Option<Box<ScatterDimensionNumbers>>,
    pub replica_groups: SharedList<ReplicaGroup>,
    pub feature_group_count: i64,
    pub source_target_pairs: Vec<SourceTarget>,
    pub constrain_layout: bool,
    pub batch_group_count: i64,
    pub is_stable: bool,
    pub comparison_direction: String,
    pub custom_call_has_side_effect: bool,
    pub indices_are_sorted: bool,
    pub unique_indices: bool,
    pub rng_algorithm: i32,
    pub use_global_device_ids: bool,
    pub comparison_type: String,
    pub custom_call_api_version: i32,
    pub collective_device_list: Option<Box<CollectiveDeviceListProto>>,
    pub iota_collective_device_list: Option<Box<IotaReplicaGroupListProto>>,
    pub mesh_axes_replica_group_list: Option<Box<MeshAxesReplicaGroupListProto>>,
}

/// The fields of an instruction that few have, if it has one; they are read and written as its own.
#[derive(Clone, Default)]
pub struct Rare(Option<Box<RareFields>>);

impl Rare {
    fn fields(&self) -> &RareFields {
        self.0.as_deref().unwrap_or(&NONE)
    }
}

/// Those of an instruction that has none.
static NONE: LazyLock<RareFields> = LazyLock::new(RareFields::default);

impl fmt::Debug for Rare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fields().fmt(f)
    }
}

impl PartialEq for Rare {
    fn eq(&self, other: &Self) -> bool {
        (self.0.is_none() && other.0.is_none()) || self.fields() == other.fields()
    }
}

impl Deref for HloInstructionProto {
    type Target = RareFields;

    fn deref(&self) -> &RareFields {
        self.rare.fields()
    }
}

impl DerefMut for HloInstructionProto {
    fn deref_mut(&mut self) -> &mut RareFields {
        self.rare.0.get_or_insert_default()
    }
}

/// Makes a message of the numbers of fields in the schema, ascending.
macro_rules! message {
    ($($number:literal: $field:ident,)*) => {
        impl Message for HloInstructionProto {
            fn encode_raw(&self, buf: &mut impl BufMut) {
                $(self.$field.write($number, buf);)*
            }

            fn merge_field(
                &mut self,
                number: u32,
                wire: WireType,
                buf: &mut impl Buf,
                context: DecodeContext,
            ) -> Result<(), DecodeError> {
                match number {
                    $($number => self.$field.read(wire, buf, context).map_err(|mut error| {
                        error.push("HloInstructionProto", stringify!($field));
                        error
                    }),)*
                    _ => skip_field(wire, number, buf, context),
                }
            }

            fn encoded_len(&self) -> usize {
                0 $(+ self.$field.length($number))*
            }

            fn clear(&mut self) {
                *self = Self::default();
            }
        }
    };
}

message! {
    1: name,
    2: opcode,
    3: shape,
    7: metadata,
    8: literal,
    9: parameter_number,
    11: fusion_kind,
    13: tuple_index,
    14: dimensions,
    15: window,
    16: convolution_dimension_numbers,
    17: slice_dimensions,
    18: exponent_bits,
    19: mantissa_bits,
    20: dynamic_slice_sizes,
    21: padding_config,
    26: channel_id,
    28: custom_call_target,
    30: dot_dimension_numbers,
    33: gather_dimension_numbers,
    34: gather_slice_sizes,
    35: id,
    36: operand_ids,
    37: control_predecessor_ids,
    38: called_computation_ids,
    40: sharding,
    43: backend_config,
    48: scatter_dimension_numbers,
    49: replica_groups,
    50: feature_group_count,
    51: precision_config,
    52: source_target_pairs,
    56: constrain_layout,
    58: batch_group_count,
    60: is_stable,
    63: comparison_direction,
    65: custom_call_has_side_effect,
    67: indices_are_sorted,
    68: frontend_attributes,
    69: unique_indices,
    70: rng_algorithm,
    71: use_global_device_ids,
    72: comparison_type,
    77: custom_call_api_version,
    87: collective_device_list,
    92: iota_collective_device_list,
    93: mesh_axes_replica_group_list,
}
