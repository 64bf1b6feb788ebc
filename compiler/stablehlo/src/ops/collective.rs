//! Operations across ranks, which are replicas.

use super::int;
use crate::literal::rows;
use crate::op::{Meaning, Op};
use crate::site::Site;
use halite_hlo::Opcode;
use halite_support::Result;

pub(super) fn meaning(site: &Site<'_>) -> Option<Result<Meaning>> {
    let op = match Opcode::parse(site.opcode())? {
        Opcode::AllGather => all_gather(site),
        Opcode::AllReduce => site.combining("stablehlo.all_reduce").and_then(|op| grouped(site, op)),
        Opcode::AllToAll => all_to_all(site),
        Opcode::CollectivePermute => permute(site),
        Opcode::ReduceScatter => return Some(reduce_scatters(site)),
        _ => return None,
    };
    Some(op.map(Meaning::from))
}

fn all_gather(site: &Site<'_>) -> Result<Op> {
    grouped(site, site.op("stablehlo.all_gather")?.with("all_gather_dim", int(dimension(site)?)))
}

fn all_to_all(site: &Site<'_>) -> Result<Op> {
    let (dimension, groups) = (dimension(site)?, groups(site)?);
    let parts = site.needed(groups.first(), "group")?.len();
    Ok(channel(site.op("stablehlo.all_to_all")?, site.inst().channel_id)
        .with("split_dimension", int(dimension))
        .with("concat_dimension", int(dimension))
        .with("split_count", int(parts as i64))
        .with("replica_groups", rows(&groups)))
}

fn permute(site: &Site<'_>) -> Result<Op> {
    let pairs: Vec<_> = site.inst().source_target_pairs.iter().map(|pair| vec![pair.source, pair.target]).collect();
    let op = site.op("stablehlo.collective_permute")?.with("source_target_pairs", rows(&pairs));
    Ok(channel(op, site.inst().channel_id))
}

/// One for each operand, which is all that StableHLO's takes, on channels of their own.
fn reduce_scatters(site: &Site<'_>) -> Result<Meaning> {
    let whole = site.combining("stablehlo.reduce_scatter")?.with("scatter_dimension", int(dimension(site)?));
    let whole = replica_groups(site, whole)?;
    let each = whole.operands.iter().zip(&whole.results).enumerate().map(|(number, (operand, result))| {
        let one = Op { operands: vec![operand.clone()], results: vec![result.clone()], ..whole.clone() };
        channel(one, site.channels.of(site.graph, site.at, number))
    });
    Ok(Meaning::Ops(each.collect()))
}

/// With the groups of ranks and the channel.
fn grouped(site: &Site<'_>, op: Op) -> Result<Op> {
    Ok(channel(replica_groups(site, op)?, site.inst().channel_id))
}

fn replica_groups(site: &Site<'_>, op: Op) -> Result<Op> {
    let op = op.with("replica_groups", rows(&groups(site)?));
    Ok(if site.inst().use_global_device_ids { op.with("use_global_device_ids", "unit") } else { op })
}

/// On a channel, between devices as JAX writes it; 0 is none.
fn channel(op: Op, channel: i64) -> Op {
    match channel {
        0 => op,
        handle => op.with("channel_handle", format!("#stablehlo.channel_handle<handle = {handle}, type = 1>")),
    }
}

fn dimension(site: &Site<'_>) -> Result<i64> {
    site.needed(site.inst().dimensions.first().copied(), "dimension")
}

/// The groups as rows, those that are shorter than others filled up with -1. None where all ranks are one group.
fn groups(site: &Site<'_>) -> Result<Vec<Vec<i64>>> {
    let groups = site.needed(site.inst().groups(), "groups that can be read")?;
    let width = groups.iter().map(|group| group.replica_ids.len()).max().unwrap_or(0);
    let row = |ranks: &[i64]| ranks.iter().copied().chain(std::iter::repeat(-1)).take(width).collect();
    Ok(groups.iter().map(|group| row(&group.replica_ids)).collect())
}
