//! Values of a model's configuration, in recipes, in manifests and where a model is elaborated.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A value of a model's configuration.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ConfigValue {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A real number.
    Real(f64),
    /// A word, such as the name of an activation.
    Text(String),
}

impl ConfigValue {
    /// The kind in words, for people.
    pub fn kind(&self) -> &'static str {
        match self {
            ConfigValue::Int(_) => "a whole number",
            ConfigValue::Real(_) => "a real number",
            ConfigValue::Bool(_) => "`true` or `false`",
            ConfigValue::Text(_) => "a word in quotes",
        }
    }

    /// The number, where it is one that a size can be: whole and not negative.
    pub fn size(&self) -> Option<usize> {
        if let ConfigValue::Int(value) = self { usize::try_from(*value).ok() } else { None }
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
    &str: value => Self::Text(value.to_owned());
    String: value => Self::Text(value);
}

impl fmt::Display for ConfigValue {
    /// As in a model: `4096`, `1e-5`, `true`, `"gelu"`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigValue::Int(value) => write!(f, "{value}"),
            ConfigValue::Real(value) => write!(f, "{value:?}"),
            ConfigValue::Bool(value) => write!(f, "{value}"),
            ConfigValue::Text(value) => write!(f, "\"{value}\""),
        }
    }
}
