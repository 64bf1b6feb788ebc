//! A compiler session: what one embedder, or one run of the command line, knows.

use crate::model::ModelBuilder;
use crate::pipelines::Pipelines;
use halite_ir::Registry;
use halite_passes::PassRegistry;
use halite_spec::Recipe;
use halite_support::{Name, SourceMap};

/// The composites, passes, kernels, pipelines and source texts that compilations share. Sessions are independent of each
/// other; there is no global state. A session is compiled with through a shared reference, by as many threads as there are.
///
/// What it knows can be added to from outside: [`Registry::register`] takes a composite, [`PassRegistry::register`] a pass,
/// [`Pipelines::insert_after`] puts it to work, [`PassRegistry::register_kernel`] takes a kernel of a target.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Session {
    /// Known composites.
    pub registry: Registry,
    /// Known passes, and the kernels of targets.
    pub passes: PassRegistry,
    /// Which passes make the modules of a bundle.
    pub pipelines: Pipelines,
    /// Texts that diagnostics point into.
    pub sources: SourceMap,
}

impl Session {
    /// A session with the built-in composites, passes and kernels.
    pub fn new() -> Self {
        Self {
            registry: Registry::builtin(),
            passes: PassRegistry::builtin(),
            pipelines: Pipelines::builtin(),
            sources: SourceMap::new(),
        }
    }

    /// A builder of a model that is compiled by a recipe: it has the composites of this session, and the element type that
    /// the recipe asks models for.
    #[track_caller]
    pub fn model(&self, name: impl Into<Name>, recipe: &Recipe) -> ModelBuilder<'_> {
        ModelBuilder::new(name, &self.registry).with_float(crate::compile::float(&recipe.precision))
    }
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::Session;

    #[test]
    fn sessions_are_shared_between_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Session>();
        shared::<crate::Bundle>();
        shared::<crate::TrainStep>();
        shared::<crate::source::Source>();
    }
}
