//! What is given to a model from outside.

use halite_support::Span;
use halite_tensor::DType;
use std::fmt;

/// The value of a configuration key.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ConfigValue {
    /// A whole number.
    Int(i64),
    /// A real number.
    Real(f64),
    /// A truth value.
    Bool(bool),
}

impl ConfigValue {
    /// The kind in words, for people.
    pub fn kind(self) -> &'static str {
        match self {
            ConfigValue::Int(_) => "a whole number",
            ConfigValue::Real(_) => "a real number",
            ConfigValue::Bool(_) => "`true` or `false`",
        }
    }
}

macro_rules! from {
    ($($ty:ty: $value:ident => $kind:expr;)*) => {$(
        impl From<$ty> for ConfigValue {
            fn from($value: $ty) -> Self {
                $kind
            }
        }
    )*};
}

from! {
    i64: value => Self::Int(value);
    i32: value => Self::Int(value.into());
    usize: value => Self::Int(i64::try_from(value).unwrap_or(i64::MAX));
    f64: value => Self::Real(value);
    bool: value => Self::Bool(value);
}

impl fmt::Display for ConfigValue {
    /// As in a model: `4096`, `1e-5`, `true`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigValue::Int(value) => write!(f, "{value}"),
            ConfigValue::Real(value) => write!(f, "{value:?}"),
            ConfigValue::Bool(value) => write!(f, "{value}"),
        }
    }
}

/// A value that replaces a default of `config`.
#[derive(Clone, PartialEq, Debug)]
pub struct Override {
    /// The key.
    pub key: String,
    /// Its value.
    pub value: ConfigValue,
    /// Where it was set, when that is a text with a place.
    pub span: Option<Span>,
    /// What to do if the model has neither this key nor one that is spelled like it.
    pub hint: Option<String>,
}

impl Override {
    /// A value without a place, as from a command line.
    pub fn new(key: impl Into<String>, value: ConfigValue) -> Self {
        Self { key: key.into(), value, span: None, hint: None }
    }
}

/// How a model is elaborated.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// The element type of weights and of `float` in the model. Where it is `f64`, as for what programs are verified
    /// against, `f32` in the model means `f64` too; other types stay what they are.
    pub float: DType,
    /// Replacements of configuration defaults; of two for one key the later wins.
    pub overrides: Vec<Override>,
}

impl Default for Options {
    /// `f32` and no overrides.
    fn default() -> Self {
        Self { float: DType::F32, overrides: Vec::new() }
    }
}
