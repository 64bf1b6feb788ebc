//! `parse`.

use super::Suite;
use crate::document::Anchor;
use crate::kit::{Case, Outcome};
use halite::Session;
use halite_ir::text::{PrintOptions, parse, print_with};
use halite_support::SourceMap;

/// The printed form of a module, and that it parses back to itself.
#[derive(Debug)]
pub(super) struct Parse;

impl Suite for Parse {
    fn name(&self) -> &str {
        "parse"
    }

    fn run(&self, case: &Case, session: &Session) -> Result<Outcome, String> {
        let module = case.module(session)?;
        let options = PrintOptions { locations: case.directives.locations };
        let printed = print_with(&module, options);
        let file = SourceMap::new().add("printed", printed.clone());
        let again = parse(&printed, file, &session.registry)
            .map_err(|all| format!("{}\nin:\n{printed}", case.show_all(&all)))?;
        crate::document::compare_texts(&printed, &print_with(&again, options))?;
        case.execute(&module, session)?;
        Ok(Outcome::new([(Anchor::End, printed)]))
    }
}
