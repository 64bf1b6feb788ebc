//! Making a model small without changing its structure.
//!
//! A model alone knows what it requires of its sizes, so that a choice of small sizes is judged by elaborating it: the first of a short
//! list of choices that elaborates is taken, and the last of them changes nothing.

mod candidates;
#[cfg(test)]
mod tests;

use crate::session::Session;
use crate::source::Source;
use halite_recipe::{ConfigValue, Divides};
use halite_support::Diagnostics;

/// A key, its value, and the value that it gets.
pub(crate) type Change = (String, i64, i64);

impl Session {
    /// Shrinks the known sizes of a model, without changing its structure. Returns key, old and new value of each size that is larger
    /// than in a small model; the two are equal where the model takes no smaller one. Keys that are not known stay.
    ///
    /// # Errors
    /// When the recipe's own configuration is wrong.
    pub fn scale_down(&self, source: &mut Source) -> Result<Vec<(String, i64, i64)>, Diagnostics> {
        let config = self.elaborate(source)?.config;
        let size = |key: &str| match config.get(key) {
            Some(&ConfigValue::Int(value)) => Some(value),
            _ => None,
        };
        let wanted = candidates::sizes(&size, &source.with_sizes(&config).recipe);
        let taken = candidates::candidates(&size, &wanted).find_map(|changes| {
            let mut scaled = source.clone();
            changes.iter().for_each(|change| set(&mut scaled, change));
            self.elaborate(&scaled).is_ok().then_some((scaled, changes))
        });
        let changes = taken.map_or_else(Vec::new, |(scaled, changes)| {
            *source = scaled;
            changes
        });
        Ok(with_kept(changes, wanted))
    }
}

/// The changes made, then the sizes that were to change and did not.
fn with_kept(mut changes: Vec<Change>, wanted: Vec<Change>) -> Vec<Change> {
    changes.retain(|(_, from, to)| from != to);
    for (key, from, _) in wanted {
        if !changes.iter().any(|(changed, ..)| *changed == key) {
            changes.push((key, from, from));
        }
    }
    changes
}

/// Sets a size in a recipe.
fn set(source: &mut Source, (key, _, new): &Change) {
    let recipe = &mut source.recipe;
    match key.as_str() {
        "batch" => recipe.batch = usize::try_from(*new).ok(),
        "seq" => recipe.seq = usize::try_from(*new).ok(),
        candidates::STEPS => {
            if let Some(accumulate) = recipe.accumulate.as_mut() {
                let old = accumulate.steps;
                accumulate.steps = u32::try_from(*new).unwrap_or(old);
                if let Some(parallel) = recipe.parallel.as_mut() {
                    parallel.global_batch = parallel.global_batch.map(|all| all / old * accumulate.steps);
                }
            }
        }
        candidates::STAGES | candidates::CHUNKS => {
            if let Some(parallel) = recipe.parallel.as_mut() {
                let number = if key == candidates::STAGES { &mut parallel.pipeline } else { &mut parallel.chunks };
                *number = u32::try_from(*new).unwrap_or(*number);
            }
        }
        _ => match (candidates::axis(key), recipe.parallel.as_mut()) {
            (Some(axis), Some(parallel)) => {
                let degree = parallel.degree_mut(axis);
                let (old, new) = (*degree, u32::try_from(*new).unwrap_or(*degree));
                *degree = new;
                // As many steps make an update as before.
                if axis.divides() == Divides::Batch {
                    parallel.global_batch = parallel.global_batch.map(|all| all / old * new);
                }
            }
            (Some(_), None) => {}
            (None, parallel) => {
                // Cuts are between the layers that there were.
                if let Some(parallel) = parallel.filter(|_| key == candidates::LAYERS) {
                    parallel.stages = None;
                }
                recipe.model.config.insert(key.clone(), ConfigValue::Int(*new));
            }
        },
    }
}
