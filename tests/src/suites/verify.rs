//! `verify`.

use super::Suite;
use crate::annotation::match_diagnostics;
use crate::harness::{Case, Outcome, Tools};
use halite_ir::{text, verify};
use halite_support::Diagnostics;

/// The diagnostics of the parser and the verifier.
#[derive(Debug)]
pub(super) struct Verify;

impl Suite for Verify {
    fn name(&self) -> &str {
        "verify"
    }

    fn run(&self, case: &Case, tools: &Tools) -> Result<Outcome, String> {
        let found: Diagnostics = match text::parse(&case.text, case.file, &tools.registry) {
            Err(diagnostics) => diagnostics,
            Ok(module) => match verify(&module, &tools.registry) {
                Ok(()) => {
                    case.execute(&module, tools)?;
                    Vec::new()
                }
                Err(errors) => errors.into_diagnostics(),
            },
        };
        match_diagnostics(&case.text, &found, &case.sources)?;
        Ok(Outcome::default())
    }
}
