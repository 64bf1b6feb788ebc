//! The recipes of a study by name.

use crate::files;
use crate::source::{self, Source};
use halite_spec::PrecisionName;
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, Diagnostics, SourceMap, codes};
use std::path::Path;

/// The model of `input` (as [`source::load`] takes it) under a recipe: the name of a precision, or the path of a `.toml`
/// file whose precision and optimizer are laid over those of the model's recipe. Overrides come last and hold for all
/// recipes. The name of the result is that of the precision, or the stem of the file.
///
/// # Errors
/// As [`source::load`]; when the recipe is neither a name nor a path.
pub fn load_recipe(
    recipe: &str,
    input: &str,
    overrides: &[String],
    sources: &mut SourceMap,
) -> Result<Source, Diagnostics> {
    if recipe.ends_with(".toml") {
        let path = Path::new(recipe);
        let text = files::read_text(path)?;
        let layer = sources.add(recipe, text);
        let name = files::stem(path);
        return Ok(Source { name, ..source::load_over(input, Some(layer), overrides, sources)? });
    }
    let known: Vec<&str> = PrecisionName::ALL.iter().map(|precision| precision.name()).collect();
    if !known.contains(&recipe) {
        let message = format!("`{recipe}` is neither a precision nor a path to a `.toml` file");
        return Err(Diagnostic::error(codes::INPUT, message).help(suggestion(recipe, &known)).into());
    }
    let precision = format!("precision={recipe}");
    let overrides: Vec<String> = [precision].into_iter().chain(overrides.iter().cloned()).collect();
    Ok(Source { name: recipe.to_owned(), ..source::load(input, &overrides, sources)? })
}
