//! Exceptions of a precision recipe, found by pattern.

use super::types::Types;
use crate::pattern::matches_pattern;
use crate::slots::SlotTypes;
use halite_ir::{LocId, LocTable, Module, ParamRole};
use halite_spec::{Precision, PrecisionOverride};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::DType;
use std::cell::RefCell;

/// The exceptions, with what each has matched so far.
pub(super) struct Overrides<'a> {
    precision: &'a Precision,
    matched: RefCell<Vec<bool>>,
}

impl<'a> Overrides<'a> {
    pub(super) fn new(precision: &'a Precision) -> Self {
        Self { precision, matched: RefCell::new(vec![false; precision.overrides.len()]) }
    }

    /// The types of an instruction.
    pub(super) fn types(&self, op: &str, locs: &LocTable, loc: LocId) -> Types {
        let mut types = Types::of(self.precision);
        let over_instructions = |exception: &PrecisionOverride| exception.parameter.is_none();
        if !self.precision.overrides.iter().any(over_instructions) {
            return types;
        }
        let scope = locs.scope(loc);
        let fits = |pattern: &Option<String>, text: &str| pattern.as_ref().is_none_or(|p| matches_pattern(p, text));
        for (index, exception) in self.precision.overrides.iter().enumerate().filter(|(_, e)| over_instructions(e)) {
            if fits(&exception.op, op) && fits(&exception.scope, &scope) {
                self.matched.borrow_mut()[index] = true;
                types = types.with(exception);
            }
        }
        types
    }

    /// The type in which a weight is stored.
    pub(super) fn weight(&self, name: &str) -> DType {
        for (index, exception) in self.precision.overrides.iter().enumerate() {
            if exception.parameter.as_ref().is_some_and(|pattern| matches_pattern(pattern, name)) {
                self.matched.borrow_mut()[index] = true;
            }
        }
        SlotTypes::of(self.precision, name).weight
    }

    /// Complains of the first exception that matched nothing.
    pub(super) fn check(&self, module: &Module) -> Result<()> {
        let matched = self.matched.borrow();
        let Some((index, missed)) = self.precision.overrides.iter().enumerate().find(|(index, _)| !matched[*index])
        else {
            return Ok(());
        };
        let patterns = [("op", &missed.op), ("scope", &missed.scope), ("parameter", &missed.parameter)];
        let stated: Vec<_> = patterns
            .into_iter()
            .filter_map(|(key, pattern)| Some(format!("{key} = \"{}\"", pattern.as_ref()?)))
            .collect();
        let (number, what) = (index + 1, if missed.parameter.is_some() { "parameter" } else { "instruction" });
        let message = format!("precision override {number} ({}) matches no {what}", stated.join(", "));
        let error = Diagnostic::error(codes::PATTERN, message).key(format!("precision.override.{index}"));
        let error = if missed.parameter.is_some() { error.note(parameters(module)) } else { error };
        Err(error.help("mend the pattern (`*` matches any text) or remove the override"))
    }
}

fn parameters(module: &Module) -> String {
    let params = module.entry().map(|entry| entry.params.as_slice()).unwrap_or_default();
    let weights = params.iter().filter(|param| matches!(param.role, ParamRole::Weight(_)));
    let some: Vec<_> = weights.take(4).map(|param| format!("`{}`", param.name)).collect();
    format!("parameters are named like {}", some.join(", "))
}
