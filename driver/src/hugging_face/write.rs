//! Writing a `config.json` by the tables.

use super::{TYPES, config_value, range};
use halite_bundle::Manifest;
use halite_models::families::Family;
use halite_models::families::keys::{Fixed, Key, Meaning, ROPE_SCALING, ROPE_THETA, Range, Scaling, Unstated};
use halite_models::families::rope::DEFAULT;
use halite_recipe::ConfigValue;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// The values of a model's configuration, by key.
type Config = IndexMap<String, ConfigValue>;

/// The keys of a model of a family, with their values.
pub(crate) fn keys_of(family: &Family, manifest: &Manifest) -> Map<String, Value> {
    let config = &manifest.model.config;
    let stated = |key: &Key| Some((key.name.to_owned(), stated(key, family, config)?));
    let model_type = ("model_type".to_owned(), json!(family.model_type));
    std::iter::once(model_type).chain(family.keys.iter().filter_map(stated)).collect()
}

/// The value of a key for a configuration; `None` where it need not be stated.
fn stated(key: &Key, family: &Family, config: &Config) -> Option<Value> {
    match key.meaning {
        Meaning::Sets(own, range) => {
            let value = config.get(own)?;
            // What only `null` stands for, such as a window of 0.
            let is_null = matches!(key.null, Unstated::Value(null) if config_value(null) == *value);
            Some(if is_null && !takes(range, value) { Value::Null } else { json(value) })
        }
        Meaning::Only([first, ..]) => serde_json::from_str(first).ok(),
        // Newer files have one table, and read that of older ones.
        Meaning::Rope(forms) if key.name == ROPE_SCALING => scaling(forms, config),
        Meaning::Positions => {
            let stated = family.keys.iter().any(|key| matches!(key.meaning, Meaning::Sets("positions", _)));
            if stated { None } else { config.get("seq").map(json) }
        }
        Meaning::Only([]) | Meaning::Rope(_) | Meaning::Code | Meaning::Ignored => None,
    }
}

/// Whether a value is in the range of a key.
fn takes(range: Range, value: &ConfigValue) -> bool {
    range::read(range, &json(value)).is_some()
}

/// The table of scaled rotary positions, in the first of the forms of which all settings hold; `None` where positions are not scaled.
fn scaling(forms: &[Scaling], config: &Config) -> Option<Value> {
    let holds = |form: &&Scaling| form.fixed.iter().all(|(own, value)| is_at(config, own, *value));
    let form = forms.iter().find(holds).filter(|form| form.rope_type != DEFAULT)?;
    let mut table = Map::new();
    table.insert(TYPES[0].to_owned(), json!(form.rope_type));
    for key in form.keys {
        // The base of the frequencies stands beside the table.
        if let (Meaning::Sets(own, _), false) = (key.meaning, key.name == ROPE_THETA)
            && let Some(value) = config.get(own)
        {
            table.insert(key.name.to_owned(), whole(key, value));
        }
    }
    Some(Value::Object(table))
}

/// Whether a setting has a value, or is one that the model does without.
fn is_at(config: &Config, own: &str, value: Fixed) -> bool {
    config.get(own).is_none_or(|stated| *stated == config_value(value))
}

/// A value as its key takes it: a number of things is written without a point.
fn whole(key: &Key, value: &ConfigValue) -> Value {
    match (key.meaning, value) {
        (Meaning::Sets(_, Range::Count), ConfigValue::Real(real)) => json!(*real as i64),
        _ => json(value),
    }
}

fn json(value: &ConfigValue) -> Value {
    match value {
        ConfigValue::Bool(value) => json!(value),
        ConfigValue::Int(value) => json!(value),
        ConfigValue::Real(value) => json!(value),
        ConfigValue::Text(value) => json!(value),
    }
}
