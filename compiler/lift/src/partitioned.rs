//! Whether HLO is the program of one rank.

use halite_hlo::graph::Graph;
use halite_hlo::proto::HloInstructionProto;
use halite_support::{Diagnostic, Result, codes};

/// Custom calls between what is partitioned already and what XLA has still to partition.
const UNPARTITIONED: [&str; 3] = ["Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"];

/// Opcodes that partitioning makes, and that are written by hand for ranks.
const OF_RANKS: [&str; 6] =
    ["all-gather", "all-reduce", "all-to-all", "collective-permute", "partition-id", "reduce-scatter"];

/// Refuses a module that is not the program of one rank yet. Where the shardings of parameters are stated apart, those in the module
/// are no sign of it.
///
/// # Errors
/// When XLA has still to partition it.
pub fn require_partitioned(graph: &Graph, is_stated: bool) -> Result<()> {
    let marked = (0..graph.len()).find(|&at| is_mark(&graph.inst(at).custom_call_target));
    let sharded = || (0..graph.len()).find(|&at| is_tiled(graph.inst(at)));
    let waits = marked.or_else(|| if is_stated || is_of_ranks(graph) { None } else { sharded() });
    let Some(at) = waits else { return Ok(()) };
    let message = format!("XLA has still to partition the module: `{}` is sharded in it", graph.inst(at).name);
    Err(Diagnostic::error(codes::INPUT, message)
        .note("what is checked is the program of one rank: shapes of shards, collectives as instructions")
        .help("give the HLO after partitioning, in JAX `compiled.runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto()`"))
}

fn is_mark(target: &str) -> bool {
    UNPARTITIONED.contains(&target) || target.starts_with("xla.sdy.")
}

fn is_tiled(inst: &HloInstructionProto) -> bool {
    inst.sharding.as_deref().is_some_and(|own| !own.tile_assignment_dimensions.is_empty())
}

/// Whether a module says how it was partitioned, or ranks act together in it.
fn is_of_ranks(graph: &Graph) -> bool {
    let of_ranks = |opcode: &String| OF_RANKS.iter().any(|name| opcode.starts_with(name));
    !graph.module().spmd_parameters_shardings.is_empty() || graph.opcodes().iter().any(of_ranks)
}
