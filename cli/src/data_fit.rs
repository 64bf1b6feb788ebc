//! Whether a model can be trained on the data of its recipe, with the lines that say so.

use crate::context::{Context, Result};
use halite::source::Source;
use halite_bundle::Bundle;
use halite_support::{Diagnostic, Diagnostics, codes};
use halite_train::{RecipeData, check_data, check_tokenizer};

/// Opens the data of a recipe as training would. Gives an error where the model cannot be trained on them, a warning where they do not
/// exist.
pub(super) fn check(context: &Context, source: &Source, bundle: &Bundle) -> Diagnostics {
    let Some(table) = &bundle.manifest.recipe.data else { return Diagnostics::new() };
    // What is missing does not hide that the model knows too few ids.
    let tokenizer = check_tokenizer(bundle).err();
    let opened = RecipeData::new(bundle, table.clone(), ".").and_then(|data| check_data(bundle, &data));
    let is_new = |error: &Diagnostic| tokenizer.as_ref().is_none_or(|known| known.message() != error.message());
    let data = opened.err().filter(is_new).map(|error| match error.code() {
        codes::FILE => warning(&error).note("training would stop here"),
        _ => error,
    });
    tokenizer.into_iter().chain(data).map(|error| located(context, source, error)).collect()
}

/// A warning where the model knows fewer ids than the tokenizer of its recipe has. Data need not be there where a program is compiled.
pub(super) fn tokenizer(context: &Context, source: &Source, bundle: &Bundle) -> Diagnostics {
    match check_tokenizer(bundle) {
        Ok(()) => Diagnostics::new(),
        Err(error) => located(context, source, warning(&error)).into(),
    }
}

/// Places an error of data at the key of the recipe that states them and, where the model knows too few ids, at the size in the model.
pub(super) fn located(context: &Context, source: &Source, error: Diagnostic) -> Diagnostic {
    let stated = error.recipe_key().and_then(|key| source.places.nearest(key));
    let error = error.or_at(stated, "stated here");
    if error.code() != codes::VOCABULARY {
        return error;
    }
    let known = context.session.known_ids(source).unwrap_or_default();
    let Some(fewest) = known.iter().min_by_key(|ids| ids.count) else { return error };
    let label = format!("`{}` may hold {} ids here", fewest.input, fewest.count);
    match (error.primary(), fewest.place) {
        (Some(_), Some(place)) => error.also(place, label),
        (None, Some(place)) => error.at(place, label),
        (_, None) => error,
    }
}

/// An error of something that is not needed yet.
fn warning(error: &Diagnostic) -> Diagnostic {
    let warning = Diagnostic::warning(error.code(), error.message()).help(error.remedy());
    let warning = error.notes().iter().fold(warning, |warning, note| warning.note(note.as_str()));
    error.recipe_key().into_iter().fold(warning, |warning, key| warning.key(key))
}

/// The mistakes of data of a run that is to start, at their places where its recipe is at hand.
///
/// # Errors
/// As [`check_data`].
pub(super) fn require(context: &Context, source: Option<&Source>, bundle: &Bundle, data: &RecipeData) -> Result<()> {
    check_data(bundle, data).map_err(|error| match source {
        Some(source) => located(context, source, error).into(),
        None => error.into(),
    })
}
