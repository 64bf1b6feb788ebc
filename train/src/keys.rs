//! Values by their whole keys.

use serde_json::Value;
use std::collections::BTreeMap;

/// Adds the values below a key, each under its whole name; below none, under their own.
pub(super) fn flatten(key: &str, value: &Value, into: &mut BTreeMap<String, String>) {
    let below = |name: &str| if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") };
    match value {
        Value::Object(values) => values.iter().for_each(|(name, value)| flatten(&below(name), value, into)),
        Value::Null => {}
        value => _ = into.insert(key.to_owned(), value.to_string()),
    }
}
