//! `halite new`.

use crate::context::{Context, Output, Result};
use clap::{Args, ValueEnum};
use halite_support::{Diagnostic, codes};
use serde_json::json;
use std::path::PathBuf;

/// Write a model or a recipe to start from.
///
/// The model is a small causal transformer, the recipe trains a small Llama; both have comments on what to change. A file that is there
/// is left as it is.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite new model mine.hal
  halite new recipe mine.toml
  halite train mine.hal --text book.txt --steps 300")]
pub(super) struct New {
    /// Kind of file to write.
    #[arg(value_enum, value_name = "KIND")]
    kind: Kind,
    /// The file to write, which must not be there yet [default: model.hal or recipe.toml].
    file: Option<PathBuf>,
}

/// A kind of file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Kind {
    /// A model in the model language.
    Model,
    /// A recipe.
    Recipe,
}

impl Kind {
    fn file(self) -> &'static str {
        match self {
            Self::Model => "model.hal",
            Self::Recipe => "recipe.toml",
        }
    }
}

impl New {
    pub(super) fn run(self, _: &mut Context) -> Result<Output> {
        let name = self.kind.file();
        let file = self.file.unwrap_or_else(|| PathBuf::from(name));
        let place = file.display().to_string();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        if file.extension().is_none_or(|own| own != ending) {
            let message = format!("`{place}` does not end in `.{ending}`, by which it would be known");
            return Err(Diagnostic::error(codes::USAGE, message).help(format!("write `{place}.{ending}`")).into());
        }
        if file.exists() {
            let error = Diagnostic::error(codes::FILE, format!("`{place}` is there already"));
            return Err(error.help("choose another name, or remove the file").into());
        }
        let text = halite_models::starter(name).ok_or_else(|| Diagnostic::bug(format!("no text for `{name}`")))?;
        halite_disk::write(&file, text.as_bytes())?;
        let next = format!("try: halite train {place} --text TEXT --steps 100 -o runs/first\n");
        Ok(Output::new(format!("wrote {place}\n{next}"), json!({"wrote": place})))
    }
}
