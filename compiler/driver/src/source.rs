//! What commands are given: a preset by name, a recipe, or a model file.

use crate::files;
use crate::recipe_file::{self, Places};
use halite_spec::Recipe;
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, Diagnostics, FileId, SourceMap, Span, codes};
use std::path::{Path, PathBuf};

/// The recipe of a model file that comes without one.
const DEFAULT_RECIPE: &str = "\
halite = 1
batch = 8
seq = 128

[model]
name = \"?\"

[optimizer.adamw]
lr = 1e-3
clip_norm = 1.0
";

/// A recipe with its model, loaded.
#[derive(Clone, Debug)]
pub struct Source {
    /// A short name: that of the preset or the stem of the file.
    pub name: String,
    /// The recipe with all overrides.
    pub recipe: Recipe,
    /// The text of the recipe.
    pub recipe_source: FileId,
    /// Where the recipe says what.
    pub places: Places,
    /// The model's name for people.
    pub model_name: String,
    /// The text of the model.
    pub model_source: FileId,
}

/// Loads a preset (`tiny`), a recipe (`path/to/recipe.toml`) or a model (`path/to/model.hal`, with default settings),
/// with overrides `key=value` as [`recipe_file::load`] takes them.
///
/// # Errors
/// When there is nothing of that name, a file cannot be read, or the recipe is wrong: every mistake of it.
pub fn load(input: &str, overrides: &[String], sources: &mut SourceMap) -> Result<Source, Diagnostics> {
    load_over(input, None, overrides, sources)
}

/// As [`load`], with the precision and the optimizer of another recipe laid over, as [`recipe_file::load_over`] does.
///
/// # Errors
/// As [`load`].
pub fn load_over(
    input: &str,
    layer: Option<FileId>,
    overrides: &[String],
    sources: &mut SourceMap,
) -> Result<Source, Diagnostics> {
    let path = Path::new(input);
    let changes = Changes { layer, overrides };
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => {
            let text = files::read_text(path).map_err(|error| vec![error])?;
            from_recipe(stem(path), sources.add(input, text), &files::folder_of(path), changes, sources)
        }
        Some("hal") => from_model(path, changes, sources),
        _ => match halite_models::preset(input) {
            Some(text) => {
                let file = sources.add(format!("<{input}.toml>"), text);
                from_recipe(input.to_owned(), file, Path::new("."), changes, sources)
            }
            None => Err(vec![unknown_input(input)]),
        },
    }
}

/// What is changed of a recipe as it is read.
#[derive(Clone, Copy)]
struct Changes<'a> {
    layer: Option<FileId>,
    overrides: &'a [String],
}

impl Changes<'_> {
    fn load(self, file: FileId, sources: &mut SourceMap) -> Result<(Recipe, Places), Diagnostics> {
        recipe_file::load_over(file, self.layer, self.overrides, sources)
    }
}

fn from_recipe(
    name: String,
    file: FileId,
    folder: &Path,
    changes: Changes<'_>,
    sources: &mut SourceMap,
) -> Result<Source, Diagnostics> {
    let (recipe, places) = changes.load(file, sources)?;
    let place = places.get("model.name");
    let model_source = load_model(&recipe.model.name, place, folder, sources).map_err(|error| vec![error])?;
    let model_name = stem(Path::new(&recipe.model.name));
    Ok(Source { name, recipe, recipe_source: file, places, model_name, model_source })
}

fn from_model(path: &Path, changes: Changes<'_>, sources: &mut SourceMap) -> Result<Source, Diagnostics> {
    let text = files::read_text(path).map_err(|error| vec![error])?;
    let name = stem(path);
    let model_source = sources.add(path.display().to_string(), text);
    let file = sources.add("<default recipe>", DEFAULT_RECIPE.replace('?', &name));
    let (recipe, places) = changes.load(file, sources)?;
    Ok(Source { name: name.clone(), recipe, recipe_source: file, places, model_name: name, model_source })
}

/// The text of a built-in model, or of a model file beside the recipe.
fn load_model(name: &str, place: Option<Span>, folder: &Path, sources: &mut SourceMap) -> Result<FileId, Diagnostic> {
    if let Some(text) = halite_models::model(name) {
        return Ok(sources.add(format!("<{name}.hal>"), text));
    }
    if !name.ends_with(".hal") {
        let known: Vec<&str> = halite_models::models().iter().map(|(name, _)| *name).collect();
        return Err(Diagnostic::error(codes::INPUT, format!("there is no built-in model `{name}`"))
            .or_at(place, "unknown model")
            .help(format!("{} (a path to a model ends in `.hal`)", suggestion(name, &known))));
    }
    let path: PathBuf = folder.join(name);
    let text = files::read_text(&path).map_err(|error| error.or_at(place, "named here"))?;
    Ok(sources.add(path.display().to_string(), text))
}

fn unknown_input(input: &str) -> Diagnostic {
    let known: Vec<&str> = halite_models::presets().iter().map(|(name, _)| *name).collect();
    Diagnostic::error(codes::INPUT, format!("`{input}` is neither a preset nor a path to a `.toml` or `.hal` file"))
        .help(suggestion(input, &known))
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(input: &str, overrides: &[&str]) -> (String, String) {
        let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
        let error = load(input, &overrides, &mut SourceMap::new()).unwrap_err().remove(0);
        (error.to_string(), error.help_text().unwrap_or_default().to_owned())
    }

    #[test]
    fn presets_models_and_recipes_are_found() {
        let mut sources = SourceMap::new();
        assert_eq!(load("tiny", &[], &mut sources).unwrap().name, "tiny");
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("mine.hal");
        std::fs::write(&model, "model mine {}").unwrap();
        let loaded = load(model.to_str().unwrap(), &["batch=3".to_owned()], &mut sources).unwrap();
        assert_eq!((loaded.model_name.as_str(), loaded.recipe.batch), ("mine", 3));
        let recipe = folder.path().join("r.toml");
        std::fs::write(&recipe, DEFAULT_RECIPE.replace('?', "mine.hal")).unwrap();
        let loaded = load(recipe.to_str().unwrap(), &[], &mut sources).unwrap();
        assert_eq!((loaded.name.as_str(), loaded.model_name.as_str()), ("r", "mine"));
        assert_eq!(sources.file(loaded.model_source).text, "model mine {}");
    }

    #[test]
    fn unknown_inputs_get_a_suggestion() {
        let (text, help) = message("tinny", &[]);
        assert_eq!(text, "error[E0401]: `tinny` is neither a preset nor a path to a `.toml` or `.hal` file");
        assert_eq!(help, "did you mean `tiny`?");
        assert!(message("none.toml", &[]).0.starts_with("error[E0501]: cannot read `none.toml`"));
        assert!(message("tiny", &["model.name=lama"]).1.starts_with("did you mean `llama`?"));
    }
}
