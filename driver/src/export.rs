//! Export of a model to Transformers.

use crate::Session;
use crate::compile::identity::identity;
use crate::hugging_face::keys_of;
use crate::source::ModelInput;
use halite_bundle::Manifest;
use halite_models::families::{BuiltIn, FAMILIES, Family};
use halite_support::nearest::list;
use halite_support::{ChangedLine, Diagnostic, Result, codes};
use serde_json::{Map, Value};

/// The `config.json` of the model of a bundle, which Transformers reads, as JSON text. Its keys on tokens that begin and end texts are
/// up to who knows the tokenizer: they are `more`, beside the keys on the model itself. `text` is that of the model, where it is not a
/// built-in one; it may compute the same as a built-in model.
///
/// # Errors
/// When no built-in model computes the same, for which Transformers has a class.
pub fn config_json(
    session: &mut Session,
    manifest: &Manifest,
    text: Option<&str>,
    more: Map<String, Value>,
) -> Result<String> {
    let mut object = keys_of(family(session, manifest, text)?, manifest);
    object.extend(more);
    let text = serde_json::to_string_pretty(&object).map_err(|error| Diagnostic::bug(error.to_string()))?;
    Ok(text + "\n")
}

/// The family of the model of a bundle: that of the built-in model of its name or, where it is another text, of one that computes the same
/// from weights of the same names.
///
/// # Errors
/// When there is none; where `text` is nearly that of a built-in model, its first line that is another is named.
fn family(session: &mut Session, manifest: &Manifest, text: Option<&str>) -> Result<&'static Family> {
    let name = manifest.recipe.model.name.as_str();
    let named = FAMILIES.iter().find(|family| family.models.iter().any(|model| model.name == name));
    let mut computes = |model: &BuiltIn| is_same(session, manifest, model.name);
    let same = named.or_else(|| FAMILIES.iter().find(|family| family.models.iter().any(&mut computes)));
    same.copied().ok_or_else(|| of_none(name, text))
}

/// Whether a built-in model with the configuration of the model of a bundle is that model, by its IR.
fn is_same(session: &mut Session, manifest: &Manifest, built_in: &str) -> bool {
    let mut recipe = manifest.recipe.clone();
    recipe.model.name = built_in.to_owned();
    recipe.model.config = manifest.model.config.clone();
    // These are the recipe's own.
    recipe.model.config.retain(|key, _| !["batch", "seq"].contains(&key.as_str()));
    // That a configuration is none of this model says that it is another.
    let Ok(source) = session.source(recipe, ModelInput::Named) else { return false };
    let Ok(mut elaborated) = session.elaborate(&source) else { return false };
    elaborated.module.name = manifest.model.name.as_str().into();
    identity(&elaborated.module) == manifest.model.sha256
}

/// The refusal of a model that is none of Transformers.
fn of_none(name: &str, text: Option<&str>) -> Diagnostic {
    let known: Vec<&str> = FAMILIES.iter().flat_map(|family| family.models).map(|model| model.name).collect();
    let message = format!("`{name}` computes what no built-in model does: Transformers has no class for it");
    let error = Diagnostic::error(codes::HUGGING_FACE, message);
    let error = match text.and_then(nearest) {
        Some((model, line)) => error.note(format!("beside the built-in model `{model}`: {line}")),
        None => error.note(format!("built in are {}", list(&known))),
    };
    error
        .note("a built-in model with other sizes is exported: `halite train MODEL --set hidden=512`")
        .help("write its weights alone: `halite convert ... --weights-only -o model.safetensors`")
}

/// The built-in model of whose lines a text has the most, at least half, with the first line that is another.
fn nearest(text: &str) -> Option<(&'static str, ChangedLine)> {
    let own: std::collections::HashSet<&str> = text.lines().map(str::trim).collect();
    let shared = |built_in: &str| built_in.lines().filter(|line| own.contains(line.trim())).count();
    let (model, built_in) = halite_models::models().iter().max_by_key(|(_, built_in)| shared(built_in))?;
    let line = ChangedLine::first(built_in, text, "//")?;
    (2 * shared(built_in) >= built_in.lines().count()).then_some((*model, line))
}
