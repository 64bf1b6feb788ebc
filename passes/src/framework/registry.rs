//! Passes by name.

use crate::framework::pass::Pass;
use crate::framework::pipeline::{Pipeline, PipelineSpec};
use halite_support::nearest::nearest;
use halite_support::{Diagnostic, Name, Result, codes};
use indexmap::IndexMap;
use std::sync::Arc;

/// The passes a session knows. A value owned by the session, never global state.
#[derive(Clone, Debug)]
pub struct PassRegistry {
    passes: IndexMap<Name, Arc<dyn Pass>>,
}

impl PassRegistry {
    /// These passes, whose names differ.
    pub(crate) fn new(passes: impl IntoIterator<Item = Arc<dyn Pass>>) -> Self {
        Self { passes: passes.into_iter().map(|pass| (pass.info().name, pass)).collect() }
    }

    /// Adds a pass. Pipelines, reports and dumps know it by its name: an ASCII letter, then ASCII letters, digits, `-`, `_`
    /// and `.`.
    ///
    /// # Errors
    /// When its name is not of that form, or another has it.
    pub fn register(&mut self, pass: Arc<dyn Pass>) -> Result<()> {
        let name = pass.info().name;
        name.check("pass", "-_.")?;
        if self.passes.contains_key(&name) {
            return Err(Diagnostic::error(codes::DUPLICATE, format!("a pass named `{name}` exists already")));
        }
        self.passes.insert(name, pass);
        Ok(())
    }

    /// All passes in order of registration.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Pass>> {
        self.passes.values()
    }

    /// The pass of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn get(&self, name: &str) -> Result<&Arc<dyn Pass>> {
        self.passes.get(name).ok_or_else(|| {
            let known: Vec<_> = self.passes.keys().map(|name| format!("`{name}`")).collect();
            Diagnostic::error(codes::PIPELINE, format!("no pass is named `{name}`")).help(
                match nearest(name, self.passes.keys().map(|name| &**name)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the passes are {}", known.join(", ")),
                },
            )
        })
    }

    /// The passes that a pipeline names.
    ///
    /// # Errors
    /// On an unknown name.
    pub fn pipeline(&self, spec: &PipelineSpec) -> Result<Pipeline> {
        spec.try_map(|name| self.get(name).cloned())
    }

    /// The passes that a text names; see [`PipelineSpec`].
    ///
    /// # Errors
    /// When the text is no pipeline, or on an unknown name.
    pub fn parse(&self, text: &str) -> Result<Pipeline> {
        self.pipeline(&text.parse()?)
    }
}
