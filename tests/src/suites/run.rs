//! `run`.

use super::Suite;
use crate::check::Check;
use crate::harness::{Case, Outcome, Tools};

/// What functions compute.
#[derive(Debug)]
pub(super) struct Run;

impl Suite for Run {
    fn name(&self) -> &str {
        "run"
    }

    fn run(&self, case: &Case, tools: &Tools) -> Result<Outcome, String> {
        if Check::parse_all(&case.text)?.is_empty() {
            return Err("there is no `//$` line".to_owned());
        }
        let module = case.module(tools)?;
        case.execute(&module, tools)?;
        Ok(Outcome::default())
    }
}
