//! The graph of a module in a file.

use crate::context::Result;
use halite_hlo::graph::Graph;
use halite_hlo::proto::HloModuleProto;
use halite_support::{Diagnostic, Diagnostics, Severity};

/// The module in a file; sizes of one that is not sound mean nothing.
pub(super) fn decode(bytes: &[u8], place: &str) -> Result<Graph> {
    let explain = |error: Diagnostic| error.context(format!("`{place}`"));
    let module = halite_hlo::decode(bytes);
    sound(module.map_err(|error| explain(error).help("give the `.hlo.pb` file of a bundle"))?, place)
}

/// The graph of a module that is sound.
pub(super) fn sound(module: HloModuleProto, place: &str) -> Result<Graph> {
    let explain = |error: Diagnostic| error.context(format!("`{place}`"));
    let graph = Graph::new(module);
    let faults = halite_hlo::check(&graph).into_iter().filter(|fault| fault.severity() >= Severity::Error);
    let faults: Diagnostics = faults.map(explain).collect();
    if faults.is_empty() { Ok(graph) } else { Err(faults) }
}
