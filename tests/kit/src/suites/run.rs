//! `run`.

use super::Suite;
use crate::check::Check;
use crate::kit::{Case, Outcome};
use halite::Session;

/// The suite that runs functions and compares their results with `//$` lines.
#[derive(Debug)]
pub(super) struct Run;

impl Suite for Run {
    fn name(&self) -> &str {
        "run"
    }

    fn run(&self, case: &Case, session: &Session) -> Result<Outcome, String> {
        if Check::parse_all(&case.text)?.is_empty() {
            return Err("there is no `//$` line".to_owned());
        }
        let module = case.module(session)?;
        case.execute(&module, session)?;
        Ok(Outcome::default())
    }
}
