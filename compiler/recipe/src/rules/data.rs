//! Checks of the data of a recipe.

use crate::{DataSource, Extension, Places, Recipe};
use halite_support::nearest::{list, suggestion};
use halite_support::{Diagnostic, Diagnostics, codes};

pub(super) fn check(recipe: &Recipe, places: &Places, extension: &dyn Extension, mistakes: &mut Diagnostics) {
    let Some(data) = &recipe.data else { return };
    let formats = extension.formats().words;
    for (key, sources) in [("data.sources", &data.sources), ("data.held_out", &data.held_out)] {
        let wrong = wrong(sources).into_iter().chain((key == "data.sources" && sources.is_empty()).then(nothing));
        mistakes.extend(wrong.map(|error| error.key(key).or_at(places.nearest(key), "stated here")));
        mistakes.extend(sources.iter().enumerate().filter_map(|(number, source)| {
            let key = format!("{key}.{number}.format");
            let error = unknown(&key, source.format.as_deref()?, formats)?;
            Some(error.or_at(places.nearest(&key), "unknown").key(key))
        }));
    }
}

/// Reports an unknown format. A text has none: its schema was checked.
fn unknown(key: &str, format: &str, formats: &[&str]) -> Option<Diagnostic> {
    let message = || format!("`{key}` is `{format}`, expected one of {}", list(formats));
    let error = || Diagnostic::error(codes::RECIPE_RANGE, message()).help(suggestion(format, formats));
    (!formats.contains(&format)).then(error)
}

fn nothing() -> Diagnostic {
    Diagnostic::error(codes::RECIPE_RANGE, "`data.sources` is empty")
        .help("name files to train on: `sources = [{ files = [\"corpus/*.jsonl\"] }]`")
}

/// The mistakes in a list of sources: no files, no name, a name that is given twice.
fn wrong(sources: &[DataSource]) -> Vec<Diagnostic> {
    let error = |message| Diagnostic::error(codes::RECIPE_RANGE, message);
    let mut wrong = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        let name = &source.name;
        if source.files.is_empty() {
            wrong.push(
                error(format!("source {} has no files", number + 1)).help("give paths or patterns under `files`"),
            );
        }
        if sources.len() > 1 && name.is_empty() {
            wrong.push(error(format!("source {} has no name", number + 1)).help("give each a `name` of its own"));
        } else if sources[..number].iter().any(|other| other.name == *name) {
            wrong.push(error(format!("two sources are called `{name}`")).help("give each a `name` of its own"));
        }
    }
    wrong
}
