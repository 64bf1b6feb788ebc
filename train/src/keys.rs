//! Values by their whole keys.

use halite_recipe::Recipe;
use halite_support::{Diagnostic, Result};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Adds the values below a key, each under its whole name; below none, under their own.
pub(super) fn flatten(key: &str, value: &Value, into: &mut BTreeMap<String, String>) {
    let below = |name: &str| if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") };
    match value {
        Value::Object(values) => values.iter().for_each(|(name, value)| flatten(&below(name), value, into)),
        Value::Null => {}
        value => _ = into.insert(key.to_owned(), value.to_string()),
    }
}

/// The same, with the elements of lists of tables under their numbers.
fn flatten_lists(key: &str, value: &Value, into: &mut BTreeMap<String, String>) {
    let below = |name: &str| if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") };
    match value {
        Value::Object(values) => values.iter().for_each(|(name, value)| flatten_lists(&below(name), value, into)),
        Value::Array(values) if values.iter().any(Value::is_object) => {
            values.iter().enumerate().for_each(|(at, value)| flatten_lists(&below(&at.to_string()), value, into));
        }
        value => flatten(key, value, into),
    }
}

/// The keys in which recipes differ, each with its value in every one of them; `None` where it is not set.
///
/// # Errors
/// None that recipes which were read give.
pub fn differences(recipes: &[&Recipe]) -> Result<Vec<(String, Vec<Option<String>>)>> {
    let mut flat = Vec::with_capacity(recipes.len());
    for recipe in recipes {
        let value = serde_json::to_value(recipe).map_err(|error| Diagnostic::bug(error.to_string()))?;
        let mut values = BTreeMap::new();
        flatten_lists("", &value, &mut values);
        flat.push(values);
    }
    let keys: BTreeSet<&String> = flat.iter().flat_map(BTreeMap::keys).collect();
    let of_all = |key: &String| flat.iter().map(|values| values.get(key).cloned()).collect::<Vec<_>>();
    let rows = keys.into_iter().map(|key| (key.clone(), of_all(key)));
    Ok(rows.filter(|(_, values)| values.iter().any(|value| *value != values[0])).collect())
}
