//! The channels of collectives of several operands that become one for each.

use halite_hlo::Opcode;
use halite_hlo::graph::Graph;
use rustc_hash::FxHashMap;

/// For each such instruction, the channel before that of its second operand: channels that no instruction has, in order.
#[derive(Debug, Default)]
pub(crate) struct Channels(FxHashMap<usize, i64>);

impl Channels {
    pub(crate) fn new(graph: &Graph) -> Self {
        let mut last = (0..graph.len()).map(|at| graph.inst(at).channel_id).max().unwrap_or(0);
        let mut before = FxHashMap::default();
        for at in (0..graph.len()).filter(|&at| graph.is(at, Opcode::ReduceScatter)) {
            before.insert(at, last);
            last = last.saturating_add(graph.operands(at).len().saturating_sub(1) as i64);
        }
        Self(before)
    }

    /// The channel of an operand of an instruction; 0, which is none, where the instruction has none.
    pub(crate) fn of(&self, graph: &Graph, at: usize, operand: usize) -> i64 {
        let (own, before) = (graph.inst(at).channel_id, self.0.get(&at));
        match (own, before) {
            (0, _) | (_, None) => own,
            (own, _) if operand == 0 => own,
            (_, Some(before)) => before.saturating_add(operand as i64),
        }
    }
}
