//! What names and expressions of a model stand for.

use halite_ir::{Builder, Value as Tensor};
use halite_support::Name;
use halite_tensor::DType;

/// A number, word or list known while the model runs, or a tensor of the module.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Int(i64),
    Real(f64),
    Bool(bool),
    Text(Name),
    Type(DType),
    List(Vec<Value>),
    Tensor(Tensor),
}

impl Value {
    /// The value in words: ``the whole number `3` ``, ``a tensor `f32[4,8]` ``.
    pub(crate) fn describe(&self, b: &Builder<'_>) -> String {
        match self {
            Value::Int(value) => format!("the whole number `{value}`"),
            Value::Real(value) => format!("the real number `{value:?}`"),
            Value::Bool(value) => format!("`{value}`"),
            Value::Text(text) => format!("the text \"{text}\""),
            Value::Type(dtype) => format!("the element type `{dtype}`"),
            Value::List(items) => format!("a list of {}", items.len()),
            Value::Tensor(tensor) => format!("a tensor `{}`", b.ty(*tensor)),
        }
    }

    /// A whole or real number as a real one.
    pub(crate) fn as_real(&self) -> Option<f64> {
        match self {
            Value::Int(value) => Some(*value as f64),
            Value::Real(value) => Some(*value),
            _ => None,
        }
    }
}
