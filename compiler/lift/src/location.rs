//! Locations of instructions, from their metadata.

use halite_hlo::graph::Graph;
use halite_hlo::origin;
use halite_ir::{Builder, LocKind, LocTable};

/// Moves to the location of an instruction: its scope, and in it the line of the program that made the HLO.
pub(crate) fn enter(b: &mut Builder<'_>, graph: &Graph, at: usize) {
    b.set_loc(LocTable::unknown());
    let Some(origin) = origin(graph.inst(at), graph.module()) else { return };
    if !origin.scope.is_empty() {
        b.enter_scope(origin.scope);
    }
    if let (false, Ok(line @ 1..)) = (origin.file.is_empty(), u32::try_from(origin.line)) {
        let file = origin.file.rsplit('/').next().unwrap_or_default().into();
        b.enter(LocKind::Code { file, line });
    }
}
