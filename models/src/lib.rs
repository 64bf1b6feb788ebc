//! The built-in models by [`families`], the libraries that they use, recipe presets, and texts to start from, by name. No logic and
//! no compiler types.

pub mod families;

pub use families::{CheckpointNames, checkpoint_names};

/// An embedded text: its name without extension and its content.
pub type Entry = (&'static str, &'static str);

macro_rules! entries {
    ($folder:literal, $extension:literal, [$($name:literal),* $(,)?]) => {
        &[$(($name, include_str!(concat!("../", $folder, $name, $extension)))),*]
    };
}

const LIBRARIES: &[Entry] = entries!("libraries/", ".hal", ["blocks"]);

const PRESETS: &[Entry] = entries!("presets/", ".toml", ["hlat-70b", "hlat-7b", "hlat-7b-paper", "llama-7b", "tiny"]);

const STARTERS: &[Entry] =
    &[("model.hal", include_str!("../starters/model.hal")), ("recipe.toml", include_str!("../starters/recipe.toml"))];

fn find(entries: &[Entry], name: &str) -> Option<&'static str> {
    entries.iter().find(|(own, _)| *own == name).map(|(_, text)| *text)
}

/// The text of a built-in model: `model("llama")`.
pub fn model(name: &str) -> Option<&'static str> {
    find(models(), name)
}

/// Every built-in model, by name.
pub fn models() -> &'static [Entry] {
    families::models()
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

/// A text to start from, by the name of its file: `starter("model.hal")`, `starter("recipe.toml")`.
pub fn starter(name: &str) -> Option<&'static str> {
    find(STARTERS, name)
}

/// The first sentence of the comment that a text begins with.
pub fn summary(text: &str) -> String {
    let comment = text.lines().map_while(|line| line.strip_prefix("//").or(line.strip_prefix('#')));
    let comment = comment.map(str::trim).collect::<Vec<_>>().join(" ");
    let ends = comment.match_indices(". ").map(|(at, _)| at);
    // Not behind "et al.", where a year follows.
    let mut ends = ends.filter(|at| comment[at + 2..].starts_with(char::is_uppercase));
    let end = ends.next().unwrap_or(comment.trim_end_matches('.').len());
    comment[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_by_name_and_listed_in_order() {
        assert!(model("llama").is_some_and(|text| text.contains("model llama {")));
        assert_eq!(summary("# One two,\n# three. Four.\nhalite = 1\n"), "One two, three");
        assert_eq!(summary("// One (A et al. 2020): two.\nmodel"), "One (A et al. 2020): two");
        assert!(model("nothing").is_none() && preset("nothing").is_none());
        for entries in [models(), libraries(), presets()] {
            assert!(entries.windows(2).all(|pair| pair[0].0 < pair[1].0));
        }
    }
}
