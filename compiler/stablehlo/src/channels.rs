//! The channels of collectives, and which of them become one for each operand.

use crate::form::Form;
use halite_hlo::Opcode;
use halite_hlo::graph::Graph;
use rustc_hash::FxHashMap;

/// The opcodes that communicate with other ranks.
const COLLECTIVES: [Opcode; 5] =
    [Opcode::AllGather, Opcode::AllReduce, Opcode::AllToAll, Opcode::CollectivePermute, Opcode::ReduceScatter];

/// For each collective, the channel of its first operand and that before its second's.
#[derive(Debug)]
pub(crate) struct Channels {
    by_instruction: FxHashMap<usize, (i64, i64)>,
    /// Opcodes that become an operation for each operand.
    apart: &'static [Opcode],
}

impl Channels {
    /// Replicas have the channels of their instructions, and where they need more, channels that no instruction has. Partitions have
    /// channels one after another.
    pub(crate) fn new(graph: &Graph, form: Form<'_>) -> Self {
        let (mut last, apart): (_, &'static [Opcode]) = match form {
            // StableHLO scatters one operand at a time.
            Form::Program { .. } => {
                ((0..graph.len()).map(|at| graph.inst(at).channel_id).max().unwrap_or(0), &[Opcode::ReduceScatter])
            }
            // XLA marks the results of what has several within `shard_map` by shardings that it then refuses.
            Form::Functions(functions) => (functions.first_channel - 1, &COLLECTIVES),
        };
        let mut channels = Self { by_instruction: FxHashMap::default(), apart };
        for at in (0..graph.len()).filter(|&at| COLLECTIVES.iter().any(|&opcode| graph.is(at, opcode))) {
            let first = match form {
                Form::Program { .. } => graph.inst(at).channel_id,
                Form::Functions(_) => {
                    last = last.saturating_add(1);
                    last
                }
            };
            channels.by_instruction.insert(at, (first, last));
            if channels.is_one_each(graph, at) {
                last = last.saturating_add(graph.operands(at).len().saturating_sub(1) as i64);
            }
        }
        channels
    }

    /// Whether an instruction becomes an operation for each operand.
    pub(crate) fn is_one_each(&self, graph: &Graph, at: usize) -> bool {
        graph.operands(at).len() > 1 && self.apart.iter().any(|&opcode| graph.is(at, opcode))
    }

    /// The channel of an operand of an instruction; 0, which is none, where the instruction has none.
    pub(crate) fn of(&self, at: usize, operand: usize) -> i64 {
        match self.by_instruction.get(&at) {
            None | Some((0, _)) => 0,
            Some((first, _)) if operand == 0 => *first,
            Some((_, before)) => before.saturating_add(operand as i64),
        }
    }
}
