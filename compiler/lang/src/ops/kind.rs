//! Kinds of arguments: the properties that a function of a model depends on.

use super::value::List;
use super::{KnownSizes, Sizes, Value};
use halite_ir::{Builder, TensorType};
use halite_support::Name;
use halite_tensor::DType;
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::sync::Arc;

/// The kind of an argument, all that a function depends on: the number or word that it is, the type of a tensor.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    Int(i64),
    Real(u64),
    Bool(bool),
    Text(Name),
    Type(DType),
    /// A list in which there are tensors.
    List(Vec<Kind>),
    /// Another list, by its number.
    Known(usize),
    Tensor(TensorType),
    Function(Name, usize),
    Absent(Name),
}

/// The size factors of an argument.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Named {
    Sizes(Sizes),
    /// Those of a list without tensors, by their number.
    Known(usize),
}

/// Lists without tensors by number, equal ones by the same: however long one is, it is looked at once.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    /// Those that were looked at, by where they are, with the numbers of their kinds and of their sizes. They are held, so that
    /// nothing else comes to be there.
    seen: FxHashMap<usize, (Arc<List>, usize, usize)>,
    kinds: IndexSet<Vec<Kind>, FxBuildHasher>,
    sizes: IndexSet<Vec<Named>, FxBuildHasher>,
}

impl Lists {
    /// The kinds of these arguments, which are values of the function that is being built.
    pub(crate) fn kinds(&mut self, args: &[Value], b: &Builder<'_>) -> Vec<Kind> {
        args.iter().map(|arg| self.kind(arg, b)).collect()
    }

    /// The size factors of the numbers and tensors in these arguments, in order.
    pub(crate) fn sizes(&mut self, args: &[Value], known: &KnownSizes, b: &Builder<'_>) -> Vec<Named> {
        let mut all = Vec::new();
        args.iter().for_each(|arg| self.add_sizes(arg, known, b, &mut all));
        all
    }

    fn kind(&mut self, value: &Value, b: &Builder<'_>) -> Kind {
        match value {
            Value::Int(value, _) => Kind::Int(*value),
            Value::Real(value) => Kind::Real(value.to_bits()),
            Value::Bool(value) => Kind::Bool(*value),
            Value::Text(text) => Kind::Text(text.clone()),
            Value::Type(dtype) => Kind::Type(*dtype),
            Value::List(list) if list.tensors > 0 => Kind::List(self.kinds(&list.items, b)),
            Value::List(list) => Kind::Known(self.known(list, b).0),
            Value::Tensor(tensor) => Kind::Tensor(b.ty(*tensor).clone()),
            Value::Function(name, home) => Kind::Function(name.clone(), *home),
            Value::Absent(name) => Kind::Absent(name.clone()),
        }
    }

    fn add_sizes(&mut self, value: &Value, known: &KnownSizes, b: &Builder<'_>, all: &mut Vec<Named>) {
        match value {
            Value::Int(..) => all.push(Named::Sizes(value.sizes())),
            Value::Tensor(tensor) => all.push(Named::Sizes(known.of(*tensor))),
            Value::List(list) if list.tensors > 0 => {
                list.items.iter().for_each(|item| self.add_sizes(item, known, b, all));
            }
            Value::List(list) => all.push(Named::Known(self.known(list, b).1)),
            _ => {}
        }
    }

    /// The numbers of a list without tensors: of its kinds and of its sizes.
    fn known(&mut self, list: &Arc<List>, b: &Builder<'_>) -> (usize, usize) {
        let place = Arc::as_ptr(list).addr();
        if let Some(&(_, kinds, sizes)) = self.seen.get(&place) {
            return (kinds, sizes);
        }
        let (kinds, sizes) = (self.kinds(&list.items, b), self.sizes(&list.items, &KnownSizes::default(), b));
        let (kinds, sizes) = (self.kinds.insert_full(kinds).0, self.sizes.insert_full(sizes).0);
        self.seen.insert(place, (list.clone(), kinds, sizes));
        (kinds, sizes)
    }
}
