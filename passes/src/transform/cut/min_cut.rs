//! Chooses the values to keep so that the rest can be computed again: a minimum cut.

use super::price::{Price, Totals};
use crate::transform::min_cut::{Nearest, connected, source_side};
use petgraph::graph::{DiGraph, NodeIndex};

/// A value of a forward.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// The bytes of keeping it, and the floating-point operations that computing it again repeats.
    pub(super) cost: Totals,
    /// The values that it is computed from; `None` for one that is not computed again. Empty for one that is there without being kept.
    pub(super) inputs: Option<Vec<usize>>,
    /// Whether the backward reads it.
    pub(super) needed: bool,
}

/// For each node, whether it is kept: each needed node is kept or follows from kept ones, at the lowest price. Of several such choices,
/// it is the one nearest to the needed nodes, which computes least again.
///
/// Values that are not computed of one another, even through others, are chosen apart: each path through a network costs a walk over all
/// of it, so that many small networks take less than one.
pub(super) fn keep(nodes: &[Node], price: Price) -> Vec<bool> {
    let inputs = nodes.iter().enumerate();
    let inputs = inputs.flat_map(|(at, node)| node.inputs.iter().flatten().map(move |&input| (at, input)));
    let parts = connected(nodes.len(), inputs);
    let mut kept = vec![false; nodes.len()];
    let mut places = vec![0; nodes.len()];
    for part in parts.iter().filter(|part| part.iter().any(|&at| nodes[at].needed)) {
        part.iter().enumerate().for_each(|(place, &at)| places[at] = place);
        let own = part.iter().map(|&at| {
            let inputs = nodes[at].inputs.as_ref().map(|inputs| inputs.iter().map(|&input| places[input]).collect());
            Node { inputs, ..nodes[at].clone() }
        });
        let own = keep_connected(&own.collect::<Vec<_>>(), price);
        part.iter().zip(own).for_each(|(&at, own)| kept[at] = own);
    }
    kept
}

fn keep_connected(nodes: &[Node], price: Price) -> Vec<bool> {
    let kept = |node: &Node| price.of(Totals { flops: 0, ..node.cost });
    let repeated = |node: &Node| price.of(Totals { bytes: 0, ..node.cost });
    let endless = 1 + nodes.iter().map(|node| price.of(node.cost)).sum::<u128>();
    let mut network = DiGraph::<(), u128>::new();
    let ends: Vec<[NodeIndex; 2]> = nodes.iter().map(|_| [network.add_node(()), network.add_node(())]).collect();
    let (source, sink) = (network.add_node(()), network.add_node(()));
    for (node, [enters, leaves]) in nodes.iter().zip(&ends) {
        network.add_edge(*enters, *leaves, kept(node));
        match &node.inputs {
            Some(inputs) => {
                inputs.iter().for_each(|&input| _ = network.add_edge(ends[input][1], *enters, endless));
                if repeated(node) > 0 {
                    network.add_edge(source, *enters, repeated(node));
                }
            }
            None => _ = network.add_edge(source, *enters, endless),
        }
        if node.needed {
            network.add_edge(*leaves, sink, endless);
        }
    }
    let with_source = source_side(&network, [source, sink], Nearest::Sink);
    ends.iter().map(|[enters, leaves]| with_source[enters.index()] && !with_source[leaves.index()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A generator that is the same everywhere (Knuth's MMIX).
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % bound
        }
    }

    fn random_graph(seed: u64) -> Vec<Node> {
        let mut random = Random(seed);
        let count = 4 + random.below(9) as usize;
        let node = |at: usize| {
            let inputs = match random.below(5) {
                0 => None,
                _ if at == 0 => None,
                1 if random.below(3) == 0 => Some(Vec::new()),
                _ => Some((0..1 + random.below(3)).map(|_| random.below(at as u64) as usize).collect()),
            };
            let cost = Totals { bytes: 1 + random.below(9), flops: random.below(6) };
            Node { cost, inputs, needed: random.below(3) == 0 }
        };
        (0..count).map(node).collect()
    }

    /// Whether all that is needed follows from what is kept.
    fn suffices(nodes: &[Node], kept: &[bool]) -> bool {
        let mut known = vec![false; nodes.len()];
        for (at, node) in nodes.iter().enumerate() {
            let follows = node.inputs.as_ref().is_some_and(|inputs| inputs.iter().all(|&input| known[input]));
            known[at] = kept[at] || follows;
        }
        nodes.iter().zip(known).all(|(node, known)| known || !node.needed)
    }

    /// The cost of a choice: the bytes that are kept, and the operations of what is computed again on the way to what is needed.
    fn cost(nodes: &[Node], kept: &[bool], price: Price) -> u128 {
        let mut wanted: Vec<bool> = nodes.iter().map(|node| node.needed).collect();
        let mut all = Totals::default();
        for (at, node) in nodes.iter().enumerate().rev() {
            all.bytes += if kept[at] { node.cost.bytes } else { 0 };
            if wanted[at] && !kept[at] {
                all.flops += node.cost.flops;
                node.inputs.iter().flatten().for_each(|&input| wanted[input] = true);
            }
        }
        price.of(all)
    }

    #[test]
    fn what_is_kept_is_the_cheapest_that_suffices() {
        for seed in 0..500 {
            let nodes = random_graph(seed);
            for price in [Price::MEMORY, Price { byte: 1, flop: 1 }, Price { byte: 3, flop: 2 }] {
                let kept = keep(&nodes, price);
                assert!(suffices(&nodes, &kept), "seed {seed}: {nodes:?} from {kept:?}");
                let choices = (0..1u32 << nodes.len()).map(|mask| {
                    let kept: Vec<bool> = (0..nodes.len()).map(|at| mask >> at & 1 == 1).collect();
                    if suffices(&nodes, &kept) { cost(&nodes, &kept, price) } else { u128::MAX }
                });
                assert_eq!(Some(cost(&nodes, &kept, price)), choices.min(), "seed {seed}: {nodes:?} keeps {kept:?}");
            }
        }
    }

    #[test]
    fn of_equal_choices_the_one_that_computes_least_again_is_taken() {
        let node = |inputs: Option<Vec<usize>>, needed| Node { cost: Totals { bytes: 4, flops: 1 }, inputs, needed };
        let chain = [node(None, false), node(Some(vec![0]), false), node(Some(vec![1]), true)];
        assert_eq!(keep(&chain, Price::MEMORY), [false, false, true]);
    }
}
