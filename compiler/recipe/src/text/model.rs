//! The model of a recipe that has mistakes, as far as it can be read.

use super::tree::{self, Node, Table, Value};
use super::{overrides, renamed};
use crate::{ConfigValue, Extension, ModelChoice, Places, extension};
use halite_support::{FileId, SourceMap};

/// The model that a recipe with mistakes names, with the settings of it that can be read, and where they stand; `None` where it names
/// none. Arguments are those of [`load`](super::load). With it, whoever knows the model finds the mistakes in its settings beside
/// those of the recipe.
pub fn model_of(
    file: FileId,
    overrides: &[String],
    extension: &dyn Extension,
    sources: &mut SourceMap,
) -> Option<(ModelChoice, Places)> {
    let keys = extension::keys(extension, None);
    let mut root = tree::parse(file, sources.file(file)?.text()).ok()?;
    let mut places = Places { texts: vec![file], ..Places::default() };
    let mut replaced = Vec::new();
    for text in overrides {
        let file = sources.add(format!("--set {text}"), text);
        places.texts.push(file);
        // Errors of an override are reported elsewhere.
        let _ = overrides::apply(&mut root, file, text, &keys, &mut replaced);
    }
    renamed::rename(&mut root, &mut places);
    root.places("", &mut places.entries);
    let model = root.entry("model")?;
    let Value::Text(name) = &model.entry("name")?.value else { return None };
    let mut choice = ModelChoice::new(name.clone());
    if let Some(Node { value: Value::Table(config), .. }) = model.entry("config") {
        choice.config.extend(settings(config));
    }
    Some((choice, places))
}

/// The settings of a kind that models have, in order.
fn settings(config: &Table) -> impl Iterator<Item = (String, ConfigValue)> {
    config.iter().filter(|(key, _)| !["batch", "seq"].contains(&key.as_str())).filter_map(|(key, entry)| {
        let value = match &entry.node.value {
            Value::Bool(value) => ConfigValue::Bool(*value),
            Value::Whole(value) => ConfigValue::Int(*value),
            Value::Real(value) if value.is_finite() => ConfigValue::Real(*value),
            Value::Text(text) => ConfigValue::Text(text.clone()),
            _ => return None,
        };
        Some((key.clone(), value))
    })
}
