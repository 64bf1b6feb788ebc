//! The smallest cut of a network.

use petgraph::algo::maximum_flow::dinics;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use petgraph::{Incoming, Outgoing};

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
        Nearest::Source => connected(network, &flows, source, Nearest::Source),
        Nearest::Sink => connected(network, &flows, sink, Nearest::Sink).into_iter().map(|sinks| !sinks).collect(),
    }
}

/// For each node, whether more could flow to it from a source, or from it to a sink.
fn connected(network: &DiGraph<(), u128>, flows: &[u128], start: NodeIndex, end: Nearest) -> Vec<bool> {
    let (along, against) = match end {
        Nearest::Source => (Outgoing, Incoming),
        Nearest::Sink => (Incoming, Outgoing),
    };
    let mut connected = vec![false; network.node_count()];
    connected[start.index()] = true;
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        let other = |edge: petgraph::graph::EdgeReference<'_, u128>| match edge.source() == node {
            true => edge.target(),
            false => edge.source(),
        };
        let with_room = network.edges_directed(node, along).filter(|edge| flows[edge.id().index()] < *edge.weight());
        let giving_back = network.edges_directed(node, against).filter(|edge| flows[edge.id().index()] > 0);
        for next in with_room.chain(giving_back).map(other) {
            if !std::mem::replace(&mut connected[next.index()], true) {
                open.push(next);
            }
        }
    }
    connected
}
