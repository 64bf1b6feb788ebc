//! The instructions and computations that depend on the rank besides their operands, and the meaning of a rank.

use halite_hlo::graph::Graph;

/// Opcodes whose results may differ on ranks that give them the same.
const OWN: [&str; 14] = [
    "all-to-all",
    "collective-permute",
    "collective-permute-start",
    "infeed",
    "outfeed",
    "partition-id",
    "ragged-all-to-all",
    "recv",
    "recv-done",
    "reduce-scatter",
    "replica-id",
    "rng",
    "rng-get-and-update-state",
    "send",
];

/// The ranks that run a module, and its computations that depend on the rank.
#[derive(Debug)]
pub(crate) struct Ranks {
    /// The number of ranks.
    pub(crate) count: usize,
    /// Whether ranks are the partitions of one replica, so that all have the same number among replicas.
    pub(crate) are_partitions: bool,
    /// Whether each computation depends on the rank by itself, or by one that it calls.
    computations: Vec<bool>,
}

impl Ranks {
    pub(crate) fn new(graph: &Graph, count: usize) -> Self {
        let mut ranks = Self {
            count,
            are_partitions: graph.opcodes().iter().any(|opcode| opcode == "partition-id"),
            computations: Vec::with_capacity(graph.computations().len()),
        };
        for computation in graph.computations() {
            let own = computation.range().any(|at| ranks.tells_apart(graph, at));
            ranks.computations.push(own);
        }
        ranks
    }

    /// Whether the results of an instruction may differ on ranks that give it the same.
    pub(crate) fn tells_apart(&self, graph: &Graph, at: usize) -> bool {
        let called = |callee: usize| self.computations.get(callee).copied().unwrap_or_default();
        OWN.contains(&graph.opcode(at)) || graph.callees(at).flatten().any(called)
    }
}
