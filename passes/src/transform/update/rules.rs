//! The update rules, a file each.

mod adamw;
mod sgd;

use super::rule::UpdateRule;
use halite_recipe::Rule;
use halite_support::{Diagnostic, Result, codes};

/// The rule that a recipe names.
pub(super) fn of(rule: &Rule) -> Result<Box<dyn UpdateRule>> {
    match &*rule.name {
        "adamw" => Ok(Box::new(adamw::Rule { settings: rule.settings()? })),
        "sgd" => Ok(Box::new(sgd::Rule { settings: rule.settings()? })),
        name => {
            let error = Diagnostic::error(codes::NOT_SUPPORTED, format!("the update rule `{name}` is not compiled"));
            Err(error.key(format!("optimizer.{name}")).help("choose `adamw` or `sgd`"))
        }
    }
}
