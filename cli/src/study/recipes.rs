//! The recipes of a study by name.

use halite::Session;
use halite::source::Source;
use halite_recipe::PrecisionName;
use halite_support::files;
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, Diagnostics, codes};
use std::path::Path;

/// The model of `input` (as [`Session::load`] takes it) under a recipe: the name of a precision, or the path of a `.toml`
/// file whose precision and optimizer are laid over those of the model's recipe. Overrides come last and hold for all
/// recipes. The name of the result is that of the precision, or the stem of the file.
///
/// # Errors
/// As [`Session::load`]; when the recipe is neither a name nor a path.
pub fn load_recipe(
    recipe: &str,
    input: &str,
    overrides: &[String],
    session: &mut Session,
) -> Result<Source, Diagnostics> {
    if recipe.ends_with(".toml") {
        let path = Path::new(recipe);
        let text = files::read_text(path)?;
        let layer = session.sources.add(recipe, text);
        let mut source = session.load_over(input, layer, overrides)?;
        source.name = files::stem(path);
        return Ok(source);
    }
    let known: Vec<&str> = PrecisionName::ALL.iter().map(|precision| precision.name()).collect();
    if !known.contains(&recipe) {
        let message = format!("`{recipe}` is neither a precision nor a path to a `.toml` file");
        return Err(Diagnostic::error(codes::INPUT, message).help(suggestion(recipe, &known)).into());
    }
    let precision = format!("precision={recipe}");
    let overrides: Vec<String> = [precision].into_iter().chain(overrides.iter().cloned()).collect();
    let mut source = session.load(input, &overrides)?;
    recipe.clone_into(&mut source.name);
    Ok(source)
}
