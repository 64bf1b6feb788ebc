//! Rules that a recipe, or the command line, allows a program to break.

use crate::Tables;
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, codes};

/// Returns the reason why a recipe cannot allow the rule of this name: it is unknown, or not waivable.
pub fn refuse_allowed(id: &str) -> Option<Diagnostic> {
    let tables = Tables::builtin();
    match tables.rule(id) {
        Some(rule) if rule.waivable => None,
        Some(rule) => {
            let error = Diagnostic::error(codes::RECIPE_RANGE, format!("the rule `{id}` cannot be allowed"));
            Some(error.note(format!("where it is broken, {}", rule.consequence)).help(rule.remedy.clone()))
        }
        None => {
            let waivable = tables.rules.iter().filter(|rule| rule.waivable).map(|rule| rule.id.as_str());
            let error = Diagnostic::error(codes::RECIPE_RANGE, format!("no target has a rule `{id}`"));
            Some(error.help(suggestion(id, &waivable.collect::<Vec<_>>())))
        }
    }
}
