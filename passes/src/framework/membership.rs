//! The groups of the optimizer that a parameter is in, and its weight decay.

use super::pattern::matches_pattern;
use halite_recipe::{Group, Optimizer};

/// The groups whose `params` match a parameter of the model by its name and whose `except` does not, each with its place
/// in the recipe. `bind-recipe` refuses a parameter with more than one.
pub fn groups_of<'a>(optimizer: &'a Optimizer, name: &'a str) -> impl Iterator<Item = (usize, &'a Group)> {
    let any = |patterns: &[String]| patterns.iter().any(|pattern| matches_pattern(pattern, name));
    optimizer.groups.iter().enumerate().filter(move |(_, group)| any(&group.params) && !any(&group.except))
}

/// The weight decay of a parameter of the model in a group, or in none; `None` when it is frozen. A parameter that `no_decay` matches
/// has 0, in whatever group it is.
pub fn decay_of(optimizer: &Optimizer, group: Option<&Group>, name: &str) -> Option<f64> {
    let spared = optimizer.no_decay.iter().any(|pattern| matches_pattern(pattern, name));
    let stated = group.and_then(|group| group.weight_decay).unwrap_or(optimizer.weight_decay);
    let frozen = group.is_some_and(|group| group.frozen);
    (!frozen).then_some(if spared { 0.0 } else { stated })
}
