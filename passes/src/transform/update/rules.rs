//! The update rules, a file each.

mod adamw;
mod sgd;

use super::rule::UpdateRule;
use halite_recipe::Optimizer;

/// The rule of a recipe.
pub(super) fn of(optimizer: &Optimizer) -> Box<dyn UpdateRule> {
    match optimizer {
        Optimizer::AdamW(settings) => Box::new(adamw::Rule { settings: settings.clone() }),
        Optimizer::Sgd(settings) => Box::new(sgd::Rule { settings: settings.clone() }),
    }
}
