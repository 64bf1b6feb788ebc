//! The layout of a run over ranks, and the differences between two layouts. A layout does not decide what an update computes.

use super::keys::flatten;
use halite_recipe::{Parallel, Recipe};
use halite_support::{Diagnostic, Result};
use std::collections::BTreeMap;

/// The keys of `parallel` with their values, such as `tensor` with `2`. A recipe without them has those of one rank. The sequences
/// of an update are no part of it: they decide what is computed.
///
/// # Errors
/// None that a recipe which was read gives.
pub(super) fn layout(recipe: &Recipe) -> Result<BTreeMap<String, String>> {
    flat(&Parallel { global_batch: None, ..recipe.parallel.clone().unwrap_or_default() })
}

fn flat(parallel: &Parallel) -> Result<BTreeMap<String, String>> {
    let value = serde_json::to_value(parallel).map_err(|error| Diagnostic::bug(error.to_string()))?;
    let mut layout = BTreeMap::new();
    flatten("", &value, &mut layout);
    Ok(layout)
}

/// The differences of a layout from an older one, in one line; `None` where they are equal. A key that either lacks has its default
/// value.
pub(super) fn changes(old: &BTreeMap<String, String>, new: &BTreeMap<String, String>) -> Option<String> {
    let default = flat(&Parallel::default()).unwrap_or_default();
    let value = |layout: &BTreeMap<String, String>, key: &String| {
        layout.get(key).or_else(|| default.get(key)).map_or("default", String::as_str).to_owned()
    };
    let keys: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let differ = keys.into_iter().filter(|key| value(old, key) != value(new, key));
    let changes: Vec<String> =
        differ.map(|key| format!("`{key}` was {}, now it is {}", value(old, key), value(new, key))).collect();
    (!changes.is_empty()).then(|| changes.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_recipe::{MeshAxis, ModelChoice, Optimizer};

    fn of(batch: usize, parallel: Option<Parallel>) -> BTreeMap<String, String> {
        let recipe = Recipe::new(ModelChoice::new("llama"), batch, 8, Optimizer::new("sgd", 0.1));
        layout(&Recipe { parallel, ..recipe }).unwrap()
    }

    #[test]
    fn one_rank_is_one_layout_however_it_is_stated() {
        let alone = of(4, None);
        assert_eq!(of(8, Some(Parallel::default())), alone);
        assert_eq!(of(4, Some(Parallel { data: 1, global_batch: Some(4), ..Parallel::default() })), alone);
        assert_eq!(changes(&alone, &alone), None);
        for key in alone.keys() {
            let older: BTreeMap<_, _> =
                alone.iter().filter(|(own, _)| *own != key).map(|(k, v)| (k.clone(), v.clone())).collect();
            assert_eq!(changes(&older, &alone), None, "a key such as `{key}`, which older layouts lack");
        }
    }

    #[test]
    fn a_change_names_what_was_and_what_is() {
        let reversed = MeshAxis::ALL.iter().rev().copied().collect();
        let mesh = Parallel { data: 2, zero: 1, order: reversed, ..Parallel::default() };
        let told = changes(&of(4, None), &of(2, Some(mesh))).unwrap();
        assert!(told.starts_with("`data` was 1, now it is 2; `order` was default, now it is ["), "{told}");
        assert!(told.ends_with("; `zero` was 0, now it is 1"), "{told}");
    }
}
