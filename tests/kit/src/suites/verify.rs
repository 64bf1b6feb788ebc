//! `verify`.

use super::Suite;
use crate::annotation::match_diagnostics;
use crate::kit::{Case, Outcome};
use halite::Session;
use halite_ir::{text, verify};
use halite_support::Diagnostics;

/// The diagnostics of the parser and the verifier.
#[derive(Debug)]
pub(super) struct Verify;

impl Suite for Verify {
    fn name(&self) -> &str {
        "verify"
    }

    fn run(&self, case: &Case, session: &Session) -> Result<Outcome, String> {
        let found: Diagnostics = match text::parse(&case.text, case.file, &session.registry) {
            Err(diagnostics) => diagnostics,
            Ok(module) => match verify(&module, &session.registry) {
                Ok(_) => {
                    case.execute(&module, session)?;
                    Diagnostics::new()
                }
                Err(errors) => errors.into_diagnostics(),
            },
        };
        match_diagnostics(&case.text, &found, &case.sources)?;
        Ok(Outcome::default())
    }
}
