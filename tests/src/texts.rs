//! Text to train on.

use halite::Bundle;
use halite_data::TEXT;
use halite_recipe::DataTable;
use halite_train::RecipeData;
use std::path::Path;

/// The book in `data`, of which the last tenth is held out.
pub fn book(bundle: &Bundle) -> RecipeData {
    text(bundle, &Path::new(env!("CARGO_MANIFEST_DIR")).join("data/pride-and-prejudice.txt"), 0.1)
}

/// The bytes of a file, of which the last `held_out`, a share, is held out.
///
/// # Panics
/// When the bundle has no training step on sequences.
pub fn text(bundle: &Bundle, file: &Path, held_out: f64) -> RecipeData {
    let table = DataTable::of_files(&[file.display().to_string()], TEXT.word, held_out);
    RecipeData::new(bundle, table, ".").unwrap_or_else(|error| panic!("{error}"))
}
