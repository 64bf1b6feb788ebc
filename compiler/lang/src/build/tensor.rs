//! Handles of tensors.

use super::ModelBuilder;
use crate::ops::Value;
use halite_ir::Value as Id;
use halite_support::Name;
use halite_tensor::DType;
use std::fmt;

/// A tensor of a model under way: a handle that is copied freely and borrows its builder.
///
/// It has the operators `+ - * / %` with tensors and numbers on either side, `&`, `|` and `!` on truth values and integers,
/// and the builtins of the model language as methods.
///
/// **Two operands** have one element type, which the result has, too; comparisons give `pred`. A number takes the type of
/// the tensor, which must be able to hold it. Of two tensors of different rank the lower is repeated along the leading
/// dimensions of the other, whose last dimensions must be its own; of equal rank they have the same shape: nothing else is
/// repeated without [`broadcast`](Self::broadcast). Arithmetic takes floats and integers.
///
/// **Dimensions** are counted from the end when negative. Where several are taken, one number stands for a list of one.
///
/// Operands that a method does not take are a mistake, recorded when it is called. The result of a mistake is poisoned: it
/// can be used like any other, to no effect.
#[derive(Clone, Copy)]
pub struct Tensor<'b> {
    model: &'b ModelBuilder<'b>,
    value: Option<Id>,
}

impl fmt::Debug for Tensor<'_> {
    /// Its type, or `poisoned`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Some(value) => write!(f, "{}", self.model.state.borrow().draft.function().ty(value)),
            None => f.write_str("poisoned"),
        }
    }
}

impl<'b> Tensor<'b> {
    pub(super) fn new(model: &'b ModelBuilder<'b>, value: Id) -> Self {
        Self { model, value: Some(value) }
    }

    pub(super) fn poisoned(model: &'b ModelBuilder<'b>) -> Self {
        Self { model, value: None }
    }

    pub(super) fn maybe(model: &'b ModelBuilder<'b>, value: Option<Id>) -> Self {
        Self { model, value }
    }

    /// The tensor that an operation gave, if it gave one.
    pub(super) fn of(model: &'b ModelBuilder<'b>, value: Option<Value>) -> Self {
        let value = if let Some(Value::Tensor(tensor)) = value { Some(tensor) } else { None };
        Self { model, value }
    }

    pub(super) fn model(self) -> &'b ModelBuilder<'b> {
        self.model
    }

    pub(super) fn value(self) -> Option<Id> {
        self.value
    }

    pub(super) fn belongs_to(self, model: &ModelBuilder<'_>) -> bool {
        std::ptr::eq(&raw const self.model.state, &raw const model.state)
    }

    /// Its sizes; none when it is poisoned.
    pub fn shape(self) -> Vec<usize> {
        let state = self.model.state.borrow();
        self.value.map_or_else(Vec::new, |value| state.draft.function().ty(value).shape().to_vec())
    }

    /// The number of its dimensions; 0 when it is poisoned.
    pub fn rank(self) -> usize {
        self.shape().len()
    }

    /// Its element type; that of weights when it is poisoned.
    pub fn dtype(self) -> DType {
        let state = self.model.state.borrow();
        self.value.map_or(self.model.float, |value| state.draft.function().ty(value).dtype())
    }

    /// The same tensor with a name to be printed under, where it has none.
    #[must_use]
    pub fn named(self, name: impl Into<Name>) -> Self {
        if let Some(value) = self.value {
            self.model.state.borrow_mut().draft.name_value(value, name);
        }
        self
    }
}
