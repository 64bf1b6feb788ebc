//! The built-in model definitions, the libraries that they use, and recipe presets as text, by name. No logic and no compiler types.

mod checkpoint_names;

pub use checkpoint_names::{CheckpointNames, checkpoint_names};

/// An embedded text: its name without extension and its content.
pub type Entry = (&'static str, &'static str);

macro_rules! entries {
    ($folder:literal, $extension:literal, [$($name:literal),* $(,)?]) => {
        &[$(($name, include_str!(concat!("../", $folder, $name, $extension)))),*]
    };
}

const MODELS: &[Entry] = entries!("", ".hal", ["bert", "gpt2", "llama", "llama3", "mistral", "qwen2"]);

const LIBRARIES: &[Entry] = entries!("libraries/", ".hal", ["blocks"]);

const PRESETS: &[Entry] = entries!("presets/", ".toml", ["hlat-70b", "hlat-7b", "hlat-7b-paper", "tiny"]);

fn find(entries: &[Entry], name: &str) -> Option<&'static str> {
    entries.iter().find(|(own, _)| *own == name).map(|(_, text)| *text)
}

/// The text of a built-in model: `model("llama")`.
pub fn model(name: &str) -> Option<&'static str> {
    find(MODELS, name)
}

/// Every built-in model, by name.
pub fn models() -> &'static [Entry] {
    MODELS
}

/// The text of a built-in library, which models name by `use`: `library("blocks")`.
pub fn library(name: &str) -> Option<&'static str> {
    find(LIBRARIES, name)
}

/// Every built-in library, by name.
pub fn libraries() -> &'static [Entry] {
    LIBRARIES
}

/// The text of a recipe preset: `preset("tiny")`.
pub fn preset(name: &str) -> Option<&'static str> {
    find(PRESETS, name)
}

/// Every recipe preset, by name.
pub fn presets() -> &'static [Entry] {
    PRESETS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_by_name_and_listed_in_order() {
        assert!(model("llama").is_some_and(|text| text.contains("model llama {")));
        assert!(model("nothing").is_none() && preset("nothing").is_none());
        for entries in [models(), libraries(), presets()] {
            assert!(entries.windows(2).all(|pair| pair[0].0 < pair[1].0));
        }
    }
}
