//! Operations across ranks.

use super::int;
use crate::literal::rows;
use crate::op::{Meaning, Op};
use crate::site::Site;
use halite_support::Result;

pub(super) fn all_gather(site: &Site<'_>) -> Result<Meaning> {
    grouped(site, site.op()?.with("all_gather_dim", int(dimension(site)?)))
}

pub(super) fn all_reduce(site: &Site<'_>) -> Result<Meaning> {
    grouped(site, site.op()?)
}

pub(super) fn all_to_all(site: &Site<'_>) -> Result<Op> {
    let (dimension, groups) = (dimension(site)?, groups(site)?);
    let parts = site.needed(groups.first(), "group")?.len();
    Ok(channel(site, 0, site.op()?)
        .with("split_dimension", int(dimension))
        .with("concat_dimension", int(dimension))
        .with("split_count", int(parts as i64))
        .with("replica_groups", rows(&groups)))
}

pub(super) fn permute(site: &Site<'_>) -> Result<Op> {
    let pairs: Vec<_> = site.inst().source_target_pairs.iter().map(|pair| vec![pair.source, pair.target]).collect();
    let op = site.op()?.with("source_target_pairs", rows(&pairs));
    require_ranks(site, pairs.iter().flatten())?;
    Ok(channel(site, 0, op))
}

pub(super) fn reduce_scatter(site: &Site<'_>) -> Result<Meaning> {
    grouped(site, site.op()?.with("scatter_dimension", int(dimension(site)?)))
}

/// With the groups of ranks and the channel; an operation for each operand where one cannot take several.
fn grouped(site: &Site<'_>, op: Op) -> Result<Meaning> {
    if site.inst().has_token() {
        let error = site.fault("it hands on a token, and StableHLO has no collective that does");
        return Err(error.help("write HLO alone, or collectives without a token"));
    }
    let whole = replica_groups(site, op)?;
    if !site.channels.is_one_each(site.graph, site.at) {
        return Ok(channel(site, 0, whole).into());
    }
    let each = whole.operands.iter().zip(&whole.results).enumerate().map(|(number, (operand, result))| {
        let one = Op { operands: vec![operand.clone()], results: vec![result.clone()], ..whole.clone() };
        channel(site, number, one)
    });
    Ok(Meaning::Ops(each.collect()))
}

fn replica_groups(site: &Site<'_>, op: Op) -> Result<Op> {
    let op = op.with("replica_groups", rows(&groups(site)?));
    Ok(if site.inst().use_global_device_ids || site.form.partitions().is_some() {
        op.with("use_global_device_ids", "unit")
    } else {
        op
    })
}

/// On the channel of an operand, between devices as JAX writes it; 0 is none.
fn channel(site: &Site<'_>, operand: usize, op: Op) -> Op {
    match site.channels.of(site.at, operand) {
        0 => op,
        handle => op.with("channel_handle", format!("#stablehlo.channel_handle<handle = {handle}, type = 1>")),
    }
}

fn dimension(site: &Site<'_>) -> Result<i64> {
    site.needed(site.inst().dimensions.first().copied(), "dimension")
}

/// The groups as rows, those that are shorter than others filled up with -1.
fn groups(site: &Site<'_>) -> Result<Vec<Vec<i64>>> {
    let groups = site.needed(site.inst().groups(), "groups that can be read")?;
    let width = groups.iter().map(|group| group.replica_ids.len()).max().unwrap_or(0);
    let row = |ranks: &[i64]| ranks.iter().copied().chain(std::iter::repeat(-1)).take(width).collect();
    require_ranks(site, groups.iter().flat_map(|group| &group.replica_ids))?;
    Ok(groups.iter().map(|group| row(&group.replica_ids)).collect())
}

/// Refuses ranks that the program has no partition for.
fn require_ranks<'r>(site: &Site<'_>, mut ranks: impl Iterator<Item = &'r i64>) -> Result<()> {
    let Some(count) = site.form.partitions() else { return Ok(()) };
    let is_there = |rank: i64| usize::try_from(rank).is_ok_and(|rank| rank < count);
    match ranks.find(|&&rank| !is_there(rank)) {
        None => Ok(()),
        Some(rank) => Err(site.fault(&format!("it speaks of rank {rank}, and the program has {count} partitions"))),
    }
}
