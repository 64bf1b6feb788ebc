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

pub use report::VerifyErrors;

use crate::registry::Registry;
use crate::syntax::{FuncId, Module};
use halite_support::Diagnostic;
use report::{Located, Place};

/// Checks a module.
///
/// # Errors
/// Every broken rule, with the function it is in.
pub fn verify(module: &Module, registry: &Registry) -> Result<(), VerifyErrors> {
    let mut errors = Errors { module, list: Vec::new() };
    structure::check(module, registry, &mut errors);
    // The rules of phases follow handles, which are only safe in a well-formed module.
    if errors.list.is_empty() {
        phase::check(module, &mut errors);
    }
    if errors.list.is_empty() { Ok(()) } else { Err(VerifyErrors::new(module, errors.list)) }
}

/// The errors found so far.
struct Errors<'a> {
    module: &'a Module,
    list: Vec<Located>,
}

impl Errors<'_> {
    fn at_module(&mut self, diagnostic: Diagnostic) {
        self.list.push(Located { place: Place::Module, diagnostic });
    }

    fn at_signature(&mut self, function: FuncId, diagnostic: Diagnostic) {
        self.list.push(Located { place: Place::Signature(function), diagnostic });
    }

    fn at_return(&mut self, function: FuncId, diagnostic: Diagnostic) {
        self.list.push(Located { place: Place::Return(function), diagnostic });
    }

    fn at_inst(&mut self, function: FuncId, inst: usize, diagnostic: Diagnostic) {
        let loc = self.module.function(function).insts[inst].loc;
        let span = if self.module.locs.contains(loc) { self.module.locs.span(loc) } else { None };
        self.list.push(Located { place: Place::Inst(function, inst), diagnostic: diagnostic.or_at(span, "") });
    }
}
