//! Text files in place of the data of a recipe.

use crate::context::Result;
use clap::Args;
use halite_data::TEXT;
use halite_recipe::DataTable;
use halite_support::{Diagnostic, codes};
use std::path::PathBuf;

/// The options that name them.
#[derive(Args, Debug)]
pub(super) struct Texts {
    /// Text files whose bytes are the tokens, in place of the recipe's data.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    text: Vec<PathBuf>,
    /// Share of each text, at its end, that is held out for evaluation.
    #[arg(long, value_name = "SHARE", default_value_t = 0.1, requires = "text")]
    held_out: f64,
}

impl Texts {
    /// As data of a recipe, where any are named.
    ///
    /// # Errors
    /// When the share that is held out is outside its range.
    pub(super) fn table(&self) -> Result<Option<DataTable>> {
        let &Self { ref text, held_out } = self;
        if !(0.0..1.0).contains(&held_out) {
            let message = format!("the held-out share is {held_out}, expected a number at least 0 and less than 1");
            return Err(Diagnostic::error(codes::USAGE, message).help("write for example `--held-out 0.1`").into());
        }
        let files: Vec<String> = text.iter().map(|path| path.display().to_string()).collect();
        Ok((!files.is_empty()).then(|| DataTable::of_files(&files, TEXT.word, held_out)))
    }
}
