//! Operations across ranks.

use crate::read::attribute::Value;
use crate::read::body::Val;
use crate::read::op::Op;
use crate::read::reader::Reader;
use halite_hlo::proto::{HloInstructionProto, Numbers, ReplicaGroup, SourceTarget};
use halite_support::{Result, codes};

pub(super) fn all_gather<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let dimension = reader.int(&mut op, ["all_gather_dim"; 2])?;
    grouped(reader, op, |inst| inst.dimensions = Numbers::from_slice(&[dimension]))
}

pub(super) fn all_reduce<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let combiners = reader.combiners(&mut op, 1)?;
    grouped(reader, op, |inst| inst.called_computation_ids = combiners)
}

pub(super) fn reduce_scatter<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let dimension = reader.int(&mut op, ["scatter_dimension"; 2])?;
    let combiners = reader.combiners(&mut op, 1)?;
    grouped(reader, op, |inst| {
        inst.dimensions = Numbers::from_slice(&[dimension]);
        inst.called_computation_ids = combiners;
    })
}

/// HLO exchanges along the dimension that it splits.
pub(super) fn all_to_all<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let split = reader.int(&mut op, ["split_dimension"; 2])?;
    let concat = reader.int(&mut op, ["concat_dimension"; 2])?;
    op.attributes.take("split_count");
    if split != concat {
        return Err(reader.fault_of(&op, codes::FOREIGN, "joins along another dimension than it splits"));
    }
    grouped(reader, op, |inst| inst.dimensions = Numbers::from_slice(&[split]))
}

pub(super) fn permute<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let name = "source_target_pairs";
    let pairs = op.attributes.take(name).ok_or_else(|| reader.missing(&op, name))?;
    let table = reader.table(&pairs)?;
    let pair = |row: &Vec<i64>| match row[..] {
        [source, target] => Ok(SourceTarget { source, target }),
        _ => Err(reader.misfit(&pairs, "pairs of ranks")),
    };
    let edges = table.iter().map(pair).collect::<Result<Vec<_>>>()?;
    let channel = channel(reader, &mut op)?;
    reader.emit(op, |inst| {
        inst.source_target_pairs = edges;
        inst.channel_id = channel;
    })
}

/// With groups of ranks and a channel. Groups that are shorter than others are filled up with -1.
fn grouped<'t>(
    reader: &mut Reader<'t>,
    mut op: Op<'t>,
    fill: impl FnOnce(&mut HloInstructionProto),
) -> Result<Vec<Val>> {
    let groups = op.attributes.take("replica_groups").ok_or_else(|| reader.missing(&op, "replica_groups"))?;
    let rows = reader.table(&groups)?;
    let group = |row: &Vec<i64>| ReplicaGroup { replica_ids: row.iter().copied().filter(|&rank| rank >= 0).collect() };
    let groups = rows.iter().map(group).filter(|group| !group.replica_ids.is_empty()).collect();
    let is_global = reader.flag(&mut op, "use_global_device_ids")?;
    let channel = channel(reader, &mut op)?;
    reader.emit(op, |inst| {
        fill(inst);
        inst.replica_groups = groups;
        inst.use_global_device_ids = is_global;
        inst.channel_id = channel;
    })
}

/// The channel; 0 is none.
fn channel<'t>(reader: &mut Reader<'t>, op: &mut Op<'t>) -> Result<i64> {
    match op.attributes.get("channel_handle") {
        None => reader.maybe_list(op, ["channel_id"; 2]).map(|id| id.and_then(|id| id.first().copied()).unwrap_or(0)),
        Some(handle) if matches!(handle.value, Value::Dialect(..)) => {
            Ok(reader.numbers(op, "channel_handle")?.one("handle"))
        }
        Some(handle) => Err(reader.misfit(handle, "a channel")),
    }
}
