//! Inputs that are neither a recipe nor a model.

use crate::definition::{endings, of_hub};
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, codes};

/// The error of an input that is neither a preset nor a built-in model, nor a path to a recipe or a model.
pub(super) fn input(input: &str) -> Diagnostic {
    if input.ends_with(".safetensors") {
        let error = Diagnostic::error(
            codes::INPUT,
            format!("a file of tensors, such as `{input}`, does not say what its model is"),
        );
        return error.help(
            "name the model: a recipe, a run, or the folder of a checkpoint with its `config.json`; `halite inspect` shows the tensors",
        );
    }
    let named = halite_models::presets().iter().chain(halite_models::models());
    let known: Vec<&str> = named.map(|(name, _)| *name).collect();
    Diagnostic::error(
        codes::INPUT,
        format!(
            "`{input}` is no preset, no built-in model, and no path to a recipe (`.toml`) or a model ({})",
            endings()
        ),
    )
    .help(match input.split_once('/') {
        Some((_, model)) if !model.contains(['/', '.']) => of_hub(model),
        _ => suggestion(input, &known),
    })
}
