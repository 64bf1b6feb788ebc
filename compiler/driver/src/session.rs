//! A compiler session: what one embedder, or one run of the command line, knows.

use halite_ir::Registry;
use halite_passes::PassRegistry;
use halite_support::SourceMap;

/// The composites, passes and source texts that compilations share. Sessions are independent of each other; there is no
/// global state.
///
#[derive(Clone, Debug)]
pub struct Session {
    /// Known composites.
    pub registry: Registry,
    /// Known passes.
    pub passes: PassRegistry,
    /// Texts that diagnostics point into.
    pub sources: SourceMap,
}

impl Session {
    /// A session with the built-in composites and passes.
    pub fn new() -> Self {
        Self { registry: Registry::builtin(), passes: PassRegistry::builtin(), sources: SourceMap::new() }
    }
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}
