//! Networks: their connected parts, and their smallest cuts.

use indexmap::IndexMap;
use petgraph::algo::maximum_flow::dinics;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::unionfind::UnionFind;
use petgraph::visit::EdgeRef;
use petgraph::{Incoming, Outgoing};
use rustc_hash::FxBuildHasher;

/// The nodes from 0 up to `count` in parts between which there is no edge, in the order of the first of each.
pub(super) fn connected(count: usize, edges: impl Iterator<Item = (usize, usize)>) -> Vec<Vec<usize>> {
    let mut joined = UnionFind::<usize>::new(count);
    edges.for_each(|(x, y)| _ = joined.union(x, y));
    let mut parts: IndexMap<usize, Vec<usize>, FxBuildHasher> = IndexMap::default();
    joined.into_labeling().into_iter().enumerate().for_each(|(node, part)| parts.entry(part).or_default().push(node));
    parts.into_values().collect()
}

/// The end that a cut is nearest to, of several cuts that are equally small.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Nearest {
    /// Where things flow from.
    Source,
    /// Where they flow to.
    Sink,
}

/// For each node of a network whether it is on the side of its source when the edges with the smallest total weight are cut.
pub(super) fn source_side(network: &DiGraph<(), u128>, [source, sink]: [NodeIndex; 2], nearest: Nearest) -> Vec<bool> {
    let (_, flows) = dinics(network, source, sink);
    match nearest {
        Nearest::Source => reachable(network, &flows, source, Nearest::Source),
        Nearest::Sink => reachable(network, &flows, sink, Nearest::Sink).into_iter().map(|sinks| !sinks).collect(),
    }
}

/// For each node, whether more could flow to it from a source, or from it to a sink.
fn reachable(network: &DiGraph<(), u128>, flows: &[u128], start: NodeIndex, end: Nearest) -> Vec<bool> {
    let (along, against) = match end {
        Nearest::Source => (Outgoing, Incoming),
        Nearest::Sink => (Incoming, Outgoing),
    };
    let mut reached = vec![false; network.node_count()];
    reached[start.index()] = true;
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        let other = |edge: petgraph::graph::EdgeReference<'_, u128>| match edge.source() == node {
            true => edge.target(),
            false => edge.source(),
        };
        let with_room = network.edges_directed(node, along).filter(|edge| flows[edge.id().index()] < *edge.weight());
        let giving_back = network.edges_directed(node, against).filter(|edge| flows[edge.id().index()] > 0);
        for next in with_room.chain(giving_back).map(other) {
            if !std::mem::replace(&mut reached[next.index()], true) {
                open.push(next);
            }
        }
    }
    reached
}
