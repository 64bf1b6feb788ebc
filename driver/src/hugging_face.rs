//! `config.json` of Hugging Face's Transformers: a built-in model with settings.
//!
//! One table for each [family](halite_models::families) says of every key what it is to Halite: a setting of the model, a value that
//! the model is built for, or nothing that changes what is computed. Any other key is refused: what it would change is not known. A
//! file stands for the same recipe as one that names the model and states the settings, and compiles to the same bytes.

mod json;
mod range;
mod read;
mod write;

use halite_models::families::keys::Fixed;
use halite_recipe::ConfigValue;
use halite_support::{Diagnostic, Diagnostics, SourceFile, Span, codes};
use indexmap::IndexMap;
pub(crate) use write::keys_of;

/// Keys that name the form of a table of rotary positions: that of newer files, then that of older ones.
const TYPES: [&str; 2] = ["rope_type", "type"];

/// Values for keys of a model's configuration, each with the place in `config.json` that states it.
type Settings = IndexMap<&'static str, (ConfigValue, Option<Span>)>;

/// The model and the settings that a `config.json` stands for.
#[derive(Clone, Debug)]
pub(crate) struct Imported {
    /// The name of the built-in model.
    pub(crate) model: &'static str,
    pub(crate) settings: Settings,
    /// The number of positions that the checkpoint is made for, where the model takes more.
    pub(crate) positions: Option<Positions>,
}

/// A number of positions, with the place in `config.json` that states it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Positions {
    count: i64,
    span: Span,
    /// Whether the file states the number; else it is the default of Transformers.
    is_stated: bool,
}

impl Positions {
    /// The number of positions, where sequences of this length have more.
    pub(crate) fn fewer_than(self, seq: usize) -> Option<usize> {
        usize::try_from(self.count).ok().filter(|count| *count < seq)
    }

    /// The warning on sequences of this length, where they are longer than the checkpoint is made for.
    pub(crate) fn warning(self, seq: usize) -> Option<Diagnostic> {
        let count = self.fewer_than(seq)?;
        let label = if self.is_stated { "stated here" } else { "not stated here: Transformers takes it to be so" };
        let message = format!("`seq` is {seq}, but the checkpoint is made for at most {count} positions");
        let help = format!("set `seq` to at most {count}, or expect to train the model on longer sequences");
        Some(Diagnostic::warning(codes::HUGGING_FACE, message).at(self.span, label).help(help))
    }
}

/// Reads a `config.json`.
///
/// # Errors
/// When it is not JSON, states a key twice or is of a family that Halite does not have; every key that is unknown, missing, or has a
/// value for which Halite has no model.
pub(crate) fn import(file: &SourceFile) -> std::result::Result<Imported, Diagnostics> {
    read::import(file.id(), file.text())
}

/// A value of the tables as one of a configuration.
fn config_value(fixed: Fixed) -> ConfigValue {
    match fixed {
        Fixed::Bool(value) => ConfigValue::Bool(value),
        Fixed::Int(value) => ConfigValue::Int(value),
        Fixed::Real(value) => ConfigValue::Real(value),
    }
}
