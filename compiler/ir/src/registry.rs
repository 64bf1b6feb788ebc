//! The composites a session knows.

use crate::composite::CompositeDef;
use crate::dims::FactorMap;
use crate::ops::Op;
use crate::ty::TensorType;
use halite_support::{Diagnostic, Name, Result, codes};
use indexmap::IndexMap;
use std::sync::Arc;

/// The words of the model language, which are not read as names. A composite is called from models, so that none may have
/// one of them.
pub const MODEL_WORDS: [&str; 18] = [
    "model", "config", "require", "let", "fn", "param", "for", "in", "output", "return", "as", "true", "false", "and",
    "or", "not", "if", "else",
];

/// Composites by name. A value owned by the session, never global state.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    composites: IndexMap<Name, Arc<dyn CompositeDef>>,
}

impl Registry {
    /// The built-in composites.
    pub fn builtin() -> Self {
        let mut registry = Self::default();
        for composite in crate::composites::all() {
            registry.composites.insert(composite.name().into(), composite);
        }
        registry
    }

    /// Adds a composite. Models call it by its name: an ASCII letter, then ASCII letters, digits and `_`.
    ///
    /// # Errors
    /// When its name is not of that form or a word of the model language, or when a primitive or another composite has it.
    pub fn register(&mut self, composite: Arc<dyn CompositeDef>) -> Result<()> {
        let name = Name::from(composite.name());
        name.check("composite", "_")?;
        if MODEL_WORDS.contains(&&*name) {
            return Err(Diagnostic::error(codes::NAME, format!("a composite cannot be named `{name}`"))
                .note("that is a word of the model language, so that no model could call it")
                .help(format!("name it otherwise, e.g. `own_{name}`")));
        }
        if crate::ops::Op::primitive(&name).is_some() || self.composites.contains_key(&name) {
            return Err(Diagnostic::error(codes::DUPLICATE, format!("an op named `{name}` exists already")));
        }
        self.composites.insert(name, composite);
        Ok(())
    }

    /// The composite of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn composite(&self, name: &str) -> Result<&Arc<dyn CompositeDef>> {
        self.composites
            .get(name)
            .ok_or_else(|| Diagnostic::error(codes::UNKNOWN_OP, format!("no op or composite is named `{name}`")))
    }

    /// The correspondence of dimensions of an application of an op; `None` for a composite that does not state it.
    pub fn dims(&self, op: &Op, args: &[&TensorType], results: &[TensorType]) -> Option<FactorMap> {
        match op {
            Op::Composite(composite) => self.composite(&composite.name).ok()?.dims(args, results),
            op => Some(op.def().dims(args, results)),
        }
    }

    /// All composites in order of registration.
    pub fn composites(&self) -> impl Iterator<Item = &Arc<dyn CompositeDef>> {
        self.composites.values()
    }
}
