//! Errors of the verifier, shown inside the printed functions.

use super::PhaseRule;
use crate::syntax::{FuncId, Module};
use crate::text::function_lines;
use halite_support::{Diagnostic, Diagnostics};
use std::fmt;

/// Lines shown before and after a line with an error.
const CONTEXT: usize = 3;

/// Errors shown in a listing.
const MAX_SHOWN: usize = 32;

/// The part of a module that breaks a rule.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum ModulePart {
    Module,
    Signature(FuncId),
    Inst(FuncId, usize),
    Return(FuncId),
}

impl ModulePart {
    fn function(self) -> Option<FuncId> {
        match self {
            ModulePart::Module => None,
            ModulePart::Signature(id) | ModulePart::Inst(id, _) | ModulePart::Return(id) => Some(id),
        }
    }
}

#[derive(Debug)]
pub(super) struct Located {
    pub(super) part: ModulePart,
    /// The rule of a phase that is broken; `None` for structure and types.
    pub(super) rule: Option<PhaseRule>,
    pub(super) diagnostic: Diagnostic,
}

/// Everything that is wrong with a module.
#[derive(Clone, PartialEq, Eq)]
pub struct VerifyErrors {
    diagnostics: Diagnostics,
    rules: Vec<Option<PhaseRule>>,
    listing: String,
}

impl VerifyErrors {
    pub(super) fn new(module: &Module, errors: Vec<Located>) -> Self {
        let listing = listing(module, &errors);
        let rules = errors.iter().map(|error| error.rule).collect();
        Self { diagnostics: errors.into_iter().map(|error| error.diagnostic).collect(), rules, listing }
    }

    /// The errors, at the positions of their instructions where those are known.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The same, for a module that the user wrote.
    pub fn into_diagnostics(self) -> Diagnostics {
        self.diagnostics
    }

    /// Whether nothing is broken but these rules of phases.
    pub fn are_only(&self, rules: &[PhaseRule]) -> bool {
        self.rules.iter().all(|broken| broken.is_some_and(|broken| rules.contains(&broken)))
    }

    /// One message for a module that came in like this; `context` says when it was found.
    pub fn into_input(self, context: impl fmt::Display) -> Diagnostic {
        let more = self.diagnostics.len().saturating_sub(1);
        let Some(first) = self.diagnostics.into_iter().next() else {
            return Diagnostic::bug("the verifier refuses a module without an error");
        };
        let first = if more > 0 { first.note(format!("and {more} more like this")) } else { first };
        first.note(context.to_string())
    }

    /// The functions with errors, printed with each error under its line.
    pub fn listing(&self) -> &str {
        &self.listing
    }

    /// One message for a module that the compiler broke; `context` says when, e.g. ``after pass `cse` ``.
    pub fn into_bug(self, context: impl fmt::Display) -> Diagnostic {
        let more = match self.diagnostics.len() {
            0 | 1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        let first = self.diagnostics.first().map_or("", |diagnostic| diagnostic.message());
        Diagnostic::bug(format!("internal error: {context}: {first}{more}")).note(self.listing)
    }
}

impl fmt::Display for VerifyErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.listing)
    }
}

impl fmt::Debug for VerifyErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.listing)
    }
}

impl std::error::Error for VerifyErrors {}

fn listing(module: &Module, errors: &[Located]) -> String {
    let mut shown: Vec<&Located> = errors.iter().take(MAX_SHOWN).collect();
    shown.sort_by_key(|error| (error.part.function(), error.part));
    let mut out = String::new();
    for errors in shown.chunk_by(|a, b| a.part.function() == b.part.function()) {
        match errors[0].part.function() {
            None => write_errors(&mut out, "", errors, ModulePart::Module),
            Some(id) => write_function(&mut out, module, id, errors),
        }
    }
    if errors.len() > shown.len() {
        out.push_str(&format!("// and {} more errors\n", errors.len() - shown.len()));
    }
    out
}

/// Writes the lines of a function near its errors; others are counted.
fn write_function(out: &mut String, module: &Module, id: FuncId, errors: &[&Located]) {
    let lines = function_lines(module, module.function(id));
    out.push_str(&lines.signature);
    out.push('\n');
    write_errors(out, "", errors, ModulePart::Signature(id));
    let at_return = errors.iter().any(|error| error.part == ModulePart::Return(id));
    let places: Vec<usize> = errors
        .iter()
        .filter_map(|error| if let ModulePart::Inst(_, at) = error.part { Some(at) } else { None })
        .collect();
    let is_near = |line: usize| {
        places.iter().any(|place| place.abs_diff(line) <= CONTEXT) || at_return && line + CONTEXT >= lines.insts.len()
    };
    let mut left_out = 0;
    for (at, line) in lines.insts.iter().enumerate() {
        if !is_near(at) {
            left_out += 1;
            continue;
        }
        write_left_out(out, &mut left_out);
        out.push_str(line);
        out.push('\n');
        write_errors(out, "  ", errors, ModulePart::Inst(id, at));
    }
    write_left_out(out, &mut left_out);
    out.push_str(&lines.result);
    out.push('\n');
    write_errors(out, "  ", errors, ModulePart::Return(id));
    out.push_str("}\n");
}

fn write_left_out(out: &mut String, count: &mut usize) {
    if *count > 0 {
        out.push_str(&format!("  // .. {count} more\n"));
    }
    *count = 0;
}

fn write_errors(out: &mut String, indent: &str, errors: &[&Located], part: ModulePart) {
    for error in errors.iter().filter(|error| error.part == part) {
        out.push_str(&format!("{indent}// ^ error: {}\n", error.diagnostic.message()));
    }
}
