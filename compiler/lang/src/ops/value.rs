//! The values of names and expressions of a model.

use super::factors::{Factors, Sizes};
use halite_ir::{Builder, Value as Tensor};
use halite_support::Name;
use halite_tensor::DType;
use std::sync::Arc;

/// The depth to which lists may nest.
pub(crate) const MAX_LIST_DEPTH: usize = 8;

/// The most items of a list that is made by adding lists.
pub(crate) const MAX_LIST_ITEMS: usize = 4096;

/// A number, word or list known while the model runs, or a tensor of the module.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A whole number with its size factors.
    Int(i64, Factors),
    Real(f64),
    Bool(bool),
    Text(Name),
    Type(DType),
    /// Names share it: a list is read far more often than it is made.
    List(Arc<List>),
    Tensor(Tensor),
    /// A function by its name and which of the texts of a model it stands in; an op, for which that is 0.
    Function(Name, usize),
    /// An argument of `main` of this name that is not there: it may be handed on and returned, and nothing else.
    Absent(Name),
}

/// The items of a list.
#[derive(Clone, Debug)]
pub(crate) struct List {
    pub(crate) items: Vec<Value>,
    /// The depth to which lists nest, this one included.
    depth: usize,
    /// The number of tensors in it, those of its lists included.
    pub(super) tensors: usize,
    /// The number of items in it likewise.
    total: usize,
}

impl Value {
    /// A list; `None` when lists would nest too deep.
    pub(crate) fn list(items: Vec<Value>) -> Option<Self> {
        let (mut depth, mut tensors, mut total) = (0, 0_usize, 0_usize);
        for item in &items {
            let (inner, own, all) = match item {
                Value::List(list) => (list.depth, list.tensors, list.total),
                Value::Tensor(_) => (0, 1, 1),
                _ => (0, 0, 1),
            };
            (depth, tensors, total) = (depth.max(inner), tensors.saturating_add(own), total.saturating_add(all));
        }
        depth += 1;
        (depth <= MAX_LIST_DEPTH).then(|| Value::List(Arc::new(List { items, depth, tensors, total })))
    }

    /// The items that whoever looks for the tensors of a value walks through: none where there are no tensors.
    pub(crate) fn walked(&self) -> usize {
        if let Value::List(list) = self
            && list.tensors > 0
        {
            list.total
        } else {
            0
        }
    }

    /// A whole number that is no product.
    pub(crate) fn int(value: i64) -> Self {
        Self::Int(value, Factors::default())
    }

    /// The same value; a whole number that has no names yet gets this one.
    pub(crate) fn named(self, name: &Name) -> Self {
        match self {
            Self::Int(value, factors) => Self::Int(value, factors.or_named(value, name)),
            other => other,
        }
    }

    /// The factors of a list of sizes; one number stands for a list of one.
    pub(crate) fn sizes(&self) -> Sizes {
        let items = if let Self::List(list) = self { list.items.as_slice() } else { std::slice::from_ref(self) };
        let factors = |item: &Self| if let Self::Int(_, factors) = item { factors.clone() } else { Factors::default() };
        items.iter().map(factors).collect()
    }

    /// The value in words: ``the whole number `3` ``, ``a tensor `f32[4,8]` ``.
    pub(crate) fn describe(&self, b: &Builder<'_>) -> String {
        match self {
            Value::Int(value, _) => format!("the whole number `{value}`"),
            Value::Real(value) => format!("the real number `{value:?}`"),
            Value::Bool(value) => format!("`{value}`"),
            Value::Text(text) => format!("the text \"{text}\""),
            Value::Type(dtype) => format!("the element type `{dtype}`"),
            Value::List(list) => format!("a list of {}", list.items.len()),
            Value::Tensor(tensor) => format!("a tensor `{}`", b.ty(*tensor)),
            Value::Function(name, _) => format!("the function `{name}`"),
            Value::Absent(name) => format!("`{name}`, which is not there"),
        }
    }

    /// The word that it is.
    pub(crate) fn word(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// A whole or real number as a real one.
    pub(crate) fn as_real(&self) -> Option<f64> {
        match self {
            Value::Int(value, _) => Some(*value as f64),
            Value::Real(value) => Some(*value),
            _ => None,
        }
    }
}
