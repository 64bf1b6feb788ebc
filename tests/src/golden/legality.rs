//! `legality`.

use crate::legality::cases;
use halite::Session;
use halite_test_kit::{Anchor, Case, Outcome, Suite};

/// The suite on the findings of the rules of Neuron targets in HLO: a file for each rule, named after it.
///
/// HLO is not read from text, so the modules are made in `src/legality/` and shown here.
#[derive(Debug)]
pub(super) struct Legality;

impl Suite for Legality {
    fn name(&self) -> &str {
        "legality"
    }

    fn extensions(&self) -> &[&str] {
        &["txt"]
    }

    fn run(&self, case: &Case, _: &Session) -> Result<Outcome, String> {
        let rule = case.name.rsplit('/').next().unwrap_or_default();
        let texts = cases().filter(|case| case.rule == rule).map(crate::legality::Case::describe);
        let texts = texts.collect::<Result<Vec<String>, String>>()?;
        if texts.is_empty() {
            return Err(format!("no module is there for the rule `{rule}`"));
        }
        Ok(Outcome::new([(Anchor::End, texts.join("\n"))]))
    }
}
