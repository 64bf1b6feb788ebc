//! Which groups of the optimizer a parameter is in.

use super::pattern::matches_pattern;
use halite_recipe::{Group, Optimizer};

/// The groups whose `params` match a parameter of the model by its name and whose `except` does not, each with its place
/// in the recipe. `bind-recipe` refuses a parameter with more than one.
pub fn groups_of<'a>(optimizer: &'a Optimizer, name: &'a str) -> impl Iterator<Item = (usize, &'a Group)> {
    let any = |patterns: &[String]| patterns.iter().any(|pattern| matches_pattern(pattern, name));
    optimizer.groups.iter().enumerate().filter(move |(_, group)| any(&group.params) && !any(&group.except))
}
