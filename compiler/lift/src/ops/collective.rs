//! Exchanges between ranks.

use super::contraction::kind;
use crate::groups::groups;
use crate::site::{Site, one};
use halite_ir::ops::{AllGather, AllReduce, AllToAll, CollectivePermute, Groups, ReduceScatter, Reduction};
use halite_ir::{Op, Values};
use halite_tensor::Dims;

pub(super) fn lifted(site: &mut Site<'_, '_>) -> Option<Values> {
    match site.opcode() {
        "all-reduce" | "all-reduce-start" => {
            let op = AllReduce { kind: kind(site)?, groups: of(site)? };
            each(site, &op.into())
        }
        "reduce-scatter" if kind(site)? == Reduction::Sum => {
            let op = ReduceScatter { dim: site.dim()?, groups: of(site)? };
            each(site, &op.into())
        }
        "all-gather" => {
            let op = AllGather { dim: site.dim()?, groups: of(site)? };
            each(site, &op.into())
        }
        "all-to-all" => {
            let (dim, [x]) = (site.dim()?, site.operands()?);
            let op = AllToAll { split_dim: dim, concat_dim: dim, groups: of(site)? };
            site.emit(op, &[x]).map(one)
        }
        "collective-permute" => permute(site),
        _ => None,
    }
}

fn of(site: &Site<'_, '_>) -> Option<Groups> {
    groups(site.inst(), site.ranks.count)
}

/// A collective on each of several operands, which XLA makes one of. A token is handed on as it is: instructions have an order here.
fn each(site: &mut Site<'_, '_>, op: &Op) -> Option<Values> {
    let (args, token) = match site.args {
        [args @ .., token] if site.inst().has_token() => (args, Some(*token)),
        args => (args, None),
    };
    let results = args.iter().map(|&x| site.b.emit(op.clone(), &[x]).ok());
    results.chain(token.map(Some)).collect()
}

fn permute(site: &mut Site<'_, '_>) -> Option<Values> {
    let rank = |rank: i64| usize::try_from(rank).ok().filter(|&rank| rank < site.ranks.count);
    let pairs = || site.inst().source_target_pairs.iter();
    let sources: Option<Dims> = pairs().map(|pair| rank(pair.source)).collect();
    let targets: Option<Dims> = pairs().map(|pair| rank(pair.target)).collect();
    let op = CollectivePermute { pairs: (sources?, targets?) };
    let [x] = site.operands()?;
    site.emit(op, &[x]).map(one)
}
