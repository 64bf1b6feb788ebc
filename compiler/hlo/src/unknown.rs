//! Fields that nobody here knows, of messages in which one may change which devices act together or what each holds: they are not dropped.

use prost::bytes::Buf;
use prost::encoding::{DecodeContext, WireType, decode_key, skip_field};

/// A message, the fields of it that are known, and those that are messages of this list.
struct Known {
    name: &'static str,
    /// Whether any other field is one that is not known.
    closed: bool,
    fields: &'static [u32],
    inner: &'static [(u32, &'static Known)],
}

static MODULE: Known = Known {
    name: "HloModuleProto",
    closed: false,
    fields: &[],
    inner: &[(3, &COMPUTATION), (12, &SHARDING), (14, &SHARDING)],
};
static DUMP: Known = Known { name: "HloProto", closed: false, fields: &[], inner: &[(1, &MODULE)] };
static COMPUTATION: Known =
    Known { name: "HloComputationProto", closed: false, fields: &[], inner: &[(2, &INSTRUCTION)] };
static INSTRUCTION: Known = Known {
    name: "HloInstructionProto",
    closed: false,
    fields: &[],
    inner: &[(40, &SHARDING), (49, &GROUP), (87, &DEVICE_LIST), (92, &IOTA_LIST), (93, &MESH_LIST)],
};
static GROUP: Known = Known { name: "ReplicaGroup", closed: true, fields: &[1], inner: &[] };
static DEVICE_LIST: Known =
    Known { name: "CollectiveDeviceListProto", closed: true, fields: &[], inner: &[(1, &GROUP), (2, &IOTA_LIST)] };
static IOTA_LIST: Known = Known { name: "IotaReplicaGroupListProto", closed: true, fields: &[1, 2, 3, 4], inner: &[] };
static MESH_LIST: Known =
    Known { name: "MeshAxesReplicaGroupListProto", closed: true, fields: &[], inner: &[(1, &MESH), (2, &AXIS_REF)] };
static MESH: Known = Known { name: "MeshProto", closed: true, fields: &[2], inner: &[(1, &AXIS), (3, &IOTA_DEVICES)] };
static AXIS: Known = Known { name: "MeshAxis", closed: true, fields: &[1, 2], inner: &[] };
static IOTA_DEVICES: Known = Known { name: "IotaDevices", closed: true, fields: &[1, 2], inner: &[] };
static AXIS_REF: Known = Known { name: "AxisRefProto", closed: true, fields: &[1], inner: &[(2, &SUB_AXIS)] };
static SUB_AXIS: Known = Known { name: "SubAxis", closed: true, fields: &[1, 2], inner: &[] };
// 2 is a shape that no version writes any more, 7 says where it comes from, 11 to 13 are wishes to the partitioner.
static SHARDING: Known = Known {
    name: "OpSharding",
    closed: true,
    fields: &[1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13],
    inner: &[(5, &SHARDING)],
};

/// The first field of a module that is not known: its number and the message that has it. Bytes that are no message have none.
pub(crate) fn in_module(bytes: &[u8]) -> Option<(u32, &'static str)> {
    first(bytes, &MODULE)
}

/// The same of a module that is wrapped as in XLA's dumps.
pub(crate) fn in_dump(bytes: &[u8]) -> Option<(u32, &'static str)> {
    first(bytes, &DUMP)
}

fn first(message: &[u8], known: &'static Known) -> Option<(u32, &'static str)> {
    let mut open: Vec<(&[u8], &Known)> = vec![(message, known)];
    while let Some((mut bytes, known)) = open.pop() {
        while bytes.has_remaining() {
            let (tag, wire) = decode_key(&mut bytes).ok()?;
            if let Some((_, inner)) = known.inner.iter().find(|(field, _)| *field == tag)
                && wire == WireType::LengthDelimited
            {
                let length = usize::try_from(prost::encoding::decode_varint(&mut bytes).ok()?).ok()?;
                let (own, rest) = bytes.split_at_checked(length)?;
                open.push((own, inner));
                bytes = rest;
                continue;
            }
            if known.closed && !known.fields.contains(&tag) {
                return Some((tag, known.name));
            }
            skip_field(wire, tag, &mut bytes, DecodeContext::default()).ok()?;
        }
    }
    None
}
