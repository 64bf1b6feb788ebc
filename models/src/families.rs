//! Families of models as Transformers has them, each in a file of its own: the built-in models that it is computed by, the keys of its
//! `config.json`, and how its checkpoints name tensors.

mod bert;
mod gpt2;
pub mod keys;
mod llama;
mod mistral;
mod names;
mod qwen2;
pub mod rope;

pub use names::CheckpointNames;

use crate::Entry;
use keys::{Fixed, Key};
use std::sync::LazyLock;

/// The families, in the order of their names.
pub static FAMILIES: &[&Family] = &[&bert::FAMILY, &gpt2::FAMILY, &llama::FAMILY, &mistral::FAMILY, &qwen2::FAMILY];

/// A family of models of Transformers.
#[derive(Debug)]
pub struct Family {
    /// The `model_type` of a `config.json`.
    pub model_type: &'static str,
    /// The built-in models that compute it. A `config.json` stands for the first one that computes what it says.
    pub models: &'static [BuiltIn],
    /// The meaning of each key of its `config.json`, beside the keys that all families share.
    pub keys: &'static [Key],
    /// The names of tensors in its checkpoints.
    pub names: CheckpointNames,
    /// The `model_type` of each family that is like this one and not built in, with the difference.
    pub relatives: &'static [(&'static str, &'static str)],
}

/// A built-in model.
#[derive(Debug)]
pub struct BuiltIn {
    /// Its name in recipes.
    pub name: &'static str,
    /// Its definition.
    pub text: &'static str,
    /// Settings that its family has and that it does without, each with when it computes the same.
    pub without: &'static [(&'static str, NoEffect)],
}

impl BuiltIn {
    const fn new(name: &'static str, text: &'static str) -> Self {
        Self { name, text, without: &[] }
    }
}

/// When a setting changes nothing.
#[derive(Clone, Copy, Debug)]
pub enum NoEffect {
    /// Whatever it is, where the other settings that the model does without change nothing.
    Always,
    /// If it has this value.
    At(Fixed),
    /// If it is not stated, or is the first of these settings divided by the second.
    AtQuotient(&'static str, &'static str),
}

/// The built-in models with their texts, by name.
pub(crate) fn models() -> &'static [Entry] {
    static MODELS: LazyLock<Vec<Entry>> = LazyLock::new(|| {
        let models = FAMILIES.iter().flat_map(|family| family.models);
        models.map(|model| (model.name, model.text)).collect()
    });
    &MODELS
}

/// The names of tensors in the checkpoints of a built-in model; `None` for any other name.
pub fn checkpoint_names(model: &str) -> Option<CheckpointNames> {
    let family = FAMILIES.iter().find(|family| family.models.iter().any(|own| own.name == model))?;
    Some(family.names)
}
