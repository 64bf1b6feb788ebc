//! The composites a session knows.

use crate::composite::CompositeDef;
use crate::dims::FactorMap;
use crate::operands::Operands;
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

/// Checks the name of something that models call or give.
fn check_word(what: &str, name: &Name) -> Result<()> {
    name.check(what, "_")?;
    if !MODEL_WORDS.contains(&&**name) {
        return Ok(());
    }
    Err(Diagnostic::error(codes::NAME, format!("no {what} can be named `{name}`"))
        .note("that is a word of the model language, so that no model could use it")
        .help(format!("name it otherwise, e.g. `own_{name}`")))
}

/// Checks the names of the operands of a composite.
fn check_operands(def: &dyn CompositeDef) -> Result<()> {
    let (name, operands) = (def.name(), def.operands());
    if operands.optional_names().len() > Operands::MAX_OPTIONAL {
        let message = format!("`{name}` has {} optional operands", operands.optional_names().len());
        return Err(
            Diagnostic::error(codes::ARITY, message).help(format!("at most {} are possible", Operands::MAX_OPTIONAL))
        );
    }
    let mut known: Vec<Name> = def.schema().into_iter().map(|spec| spec.name).collect();
    for operand in operands.names().chain(operands.rest_name()).map(Name::from) {
        check_word("operand", &operand)?;
        if known.contains(&operand) {
            let message = format!("`{name}` has two operands or attributes named `{operand}`");
            return Err(
                Diagnostic::error(codes::DUPLICATE, message).help("models give both by name: rename one of the two")
            );
        }
        known.push(operand);
    }
    Ok(())
}

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

    /// Adds a composite. Models call it by its name, and give operands and attributes by theirs: an ASCII letter, then ASCII letters,
    /// digits and `_`.
    ///
    /// # Errors
    /// When its name is not of that form or a word of the model language, or when a primitive or another composite has it; the same
    /// for the name of an operand, which no other operand nor an attribute may have.
    pub fn register(&mut self, composite: Arc<dyn CompositeDef>) -> Result<()> {
        let name = Name::from(composite.name());
        check_word("composite", &name)?;
        check_operands(&*composite)?;
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
            Op::Composite(composite) => {
                let def = self.composite(&composite.name).ok()?;
                def.dims(composite.args(self, args).ok()?, results)
            }
            op => Some(op.def().dims(args, results)),
        }
    }

    /// All composites in order of registration.
    pub fn composites(&self) -> impl Iterator<Item = &Arc<dyn CompositeDef>> {
        self.composites.values()
    }
}
