//! The verifier: what holds of every module between passes, checked in full, all errors at once.
//!
//! 1. **Structure**: each value is defined once, before it is read; handles lie in their tables; names of functions,
//!    parameters and results are unique; callees come before callers.
//! 2. **Types**: each instruction is inferred again, and the recorded types of its results must agree.
//! 3. **Phase**: see [`Phase`](crate::Phase) and `verify/phase.rs`.

mod donation;
mod phase;
mod report;
mod structure;
mod verified;

pub use phase::PhaseRule;
pub use report::VerifyErrors;
pub use verified::{Seal, Verified};

use crate::registry::Registry;
use crate::syntax::{FuncId, Module, Phase};
use halite_support::{Diagnostic, codes};
use report::{Located, ModulePart};

/// Checks a module.
///
/// # Errors
/// Every broken rule, with the function it is in.
pub fn verify<'m>(module: &'m Module, registry: &Registry) -> Result<Verified<'m>, VerifyErrors> {
    let mut errors = Errors::new(module);
    structure::check(module, registry, &mut errors);
    // The rules of phases follow handles, which are only safe in a well-formed module.
    if errors.list.is_empty() {
        phase::check(module, module.phase, &mut errors);
    }
    if errors.list.is_empty() { Ok(Verified::new(module)) } else { Err(VerifyErrors::new(module, errors.list)) }
}

/// The rules of a phase that a verified module breaks, whatever phase it is in: what no pass is to blame for that only moves
/// the module to that phase. Each is named once.
pub fn broken_rules(module: &Module, phase: Phase) -> Vec<PhaseRule> {
    let mut errors = Errors::new(module);
    phase::check(module, phase, &mut errors);
    let mut rules: Vec<PhaseRule> = errors.list.iter().filter_map(|error| error.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

/// A complaint about a rule of a phase.
fn broken(message: String) -> Diagnostic {
    Diagnostic::error(codes::PHASE, message)
}

/// The errors found so far.
struct Errors<'a> {
    module: &'a Module,
    list: Vec<Located>,
    /// The rule that is looked at, where it is one of a phase.
    rule: Option<PhaseRule>,
}

impl<'a> Errors<'a> {
    fn new(module: &'a Module) -> Self {
        Self { module, list: Vec::new(), rule: None }
    }

    fn push(&mut self, part: ModulePart, diagnostic: Diagnostic) {
        self.list.push(Located { part, rule: self.rule, diagnostic });
    }

    fn at_module(&mut self, diagnostic: Diagnostic) {
        self.push(ModulePart::Module, diagnostic);
    }

    fn at_signature(&mut self, function: FuncId, diagnostic: Diagnostic) {
        self.push(ModulePart::Signature(function), diagnostic);
    }

    fn at_return(&mut self, function: FuncId, diagnostic: Diagnostic) {
        self.push(ModulePart::Return(function), diagnostic);
    }

    fn at_inst(&mut self, function: FuncId, inst: usize, diagnostic: Diagnostic) {
        let loc = self.module.function(function).insts[inst].loc;
        let span = if self.module.locs.contains(loc) { self.module.locs.span(loc) } else { None };
        self.push(ModulePart::Inst(function, inst), diagnostic.or_at(span, ""));
    }
}
