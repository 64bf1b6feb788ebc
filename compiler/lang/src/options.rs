//! Options of elaboration, and values that override a model's configuration.

use halite_recipe::ConfigValue;
use halite_support::Span;
use halite_tensor::DType;

/// A value that replaces a default of `config`.
#[derive(Clone, PartialEq, Debug)]
pub struct Override {
    /// The name that the model gives it in `config`.
    pub key: String,
    /// The value that it is set to.
    pub value: ConfigValue,
    /// The place where it was set, if that is in a text.
    pub span: Option<Span>,
    /// The advice if the model has neither this key nor one that is spelled like it.
    pub hint: Option<String>,
}

impl Override {
    /// A value without a place, as from a command line.
    pub fn new(key: impl Into<String>, value: ConfigValue) -> Self {
        Self { key: key.into(), value, span: None, hint: None }
    }
}

/// A library that a model may use: its name and its functions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KnownLibrary {
    /// As a `use` names it.
    pub name: String,
    /// The names of its functions.
    pub functions: Vec<String>,
}

/// Options of elaboration.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// The element type of weights and of `float` in the model. Where it is `f64`, as for what programs are verified
    /// against, `f32` in the model means `f64` too; other types stay what they are.
    pub float: DType,
    /// Replacements of configuration defaults; of two for one key the later wins.
    pub overrides: Vec<Override>,
    /// The libraries at hand, to suggest a `use` where a model calls a function that it does not list.
    pub libraries: Vec<KnownLibrary>,
}

impl Default for Options {
    /// `f32`, no overrides and no libraries.
    fn default() -> Self {
        Self { float: DType::F32, overrides: Vec::new(), libraries: Vec::new() }
    }
}
