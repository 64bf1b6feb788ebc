//! The update rules, a file each.

mod adam;
mod adamw;
mod lans;
mod lion;
mod moments;
mod muon;
mod norm;
mod sgd;

use crate::rule::{BoundRule, UpdateRule};
use halite_recipe::{Optimizer, Rule, Section};
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, Name, Result, codes};
use std::sync::Arc;

/// The update rules that a session knows. A value owned by the session.
#[derive(Clone, Debug, Default)]
pub struct UpdateRules {
    rules: Vec<Arc<dyn UpdateRule>>,
}

impl UpdateRules {
    /// Those that Halite comes with.
    pub fn builtin() -> Self {
        let rules: Vec<Arc<dyn UpdateRule>> = vec![
            Arc::new(adamw::AdamW),
            Arc::new(sgd::Sgd),
            Arc::new(adam::Adam),
            Arc::new(lion::Lion),
            Arc::new(lans::Lans),
            Arc::new(muon::Muon),
        ];
        Self { rules }
    }

    /// No rule.
    pub const fn none() -> Self {
        Self { rules: Vec::new() }
    }

    /// Adds a rule. Recipes name it: an ASCII letter, then ASCII letters, digits, `-` and `_`.
    ///
    /// # Errors
    /// When its name is not of that form, another rule has it, or it is a key of `[optimizer]`.
    pub fn register(&mut self, rule: Arc<dyn UpdateRule>) -> Result<()> {
        let name = rule.section().name;
        Name::from(name).check("update rule", "-_")?;
        if Optimizer::is_own_key(name) || self.rules.iter().any(|own| own.section().name == name) {
            return Err(Diagnostic::error(
                codes::DUPLICATE,
                format!("`{name}` exists already among the keys of `[optimizer]`"),
            ));
        }
        self.rules.push(rule);
        Ok(())
    }

    /// The names and settings of all rules, in order of registration.
    pub fn sections(&self) -> Vec<&'static Section> {
        self.rules.iter().map(|rule| rule.section()).collect()
    }

    /// The rule that a recipe names.
    ///
    /// # Errors
    /// When there is none.
    pub fn get(&self, rule: &Rule) -> Result<&dyn UpdateRule> {
        let found = self.rules.iter().find(|own| own.section().name == rule.name);
        found.map(|own| &**own).ok_or_else(|| {
            let names: Vec<&str> = self.rules.iter().map(|rule| rule.section().name).collect();
            Diagnostic::error(codes::RECIPE_RANGE, format!("there is no update rule `{}`", rule.name))
                .key("optimizer")
                .help(suggestion(&rule.name, &names))
        })
    }

    /// The rule that a recipe names, with its settings.
    ///
    /// # Errors
    /// When there is none, or they are no settings of it.
    pub fn read(&self, rule: &Rule) -> Result<Box<dyn BoundRule>> {
        self.get(rule)?.read(rule)
    }
}
