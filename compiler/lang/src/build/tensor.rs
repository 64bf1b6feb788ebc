//! Handles of tensors.

use super::core::Handle;
use super::{Argument, ModelBuilder};
use halite_ir::TensorType;
use halite_support::Name;
use halite_tensor::DType;
use std::fmt;
use std::panic::Location;

/// A tensor of a model under way: a handle that is copied freely and borrows its builder.
///
/// It has the operators `+ - * / %` with tensors and numbers on either side, `&`, `|` and `!` on truth values and integers,
/// and the builtins of the model language as methods.
///
/// **Two operands** have one element type, which the result has, too; comparisons give `pred`. A number takes the type of
/// the tensor, which must be able to hold it. Two tensors are repeated to one shape as in NumPy: shapes are aligned at their
/// last dimensions, and what is missing or of size 1 is repeated; other sizes must be equal. Arithmetic takes floats and integers.
///
/// **Dimensions** are counted from the end when negative. Where several are taken, one number stands for a list of one.
///
/// **A tensor is of one [function](ModelBuilder::function)**, or of what is outside of all. Where it is used in a function
/// inside of that, it is a further argument there; once its function has returned, using it is a mistake.
///
/// Operands that a method does not take are a mistake, recorded when it is called. The result of a mistake is poisoned: it
/// can be used like any other, to no effect.
#[derive(Clone, Copy)]
pub struct Tensor<'b> {
    model: &'b ModelBuilder,
    handle: Option<Handle>,
}

impl fmt::Debug for Tensor<'_> {
    /// Its type, or `poisoned`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.model.core.borrow().ty(self.handle) {
            Some(ty) => write!(f, "{ty}"),
            None => f.write_str("poisoned"),
        }
    }
}

impl<'b> Tensor<'b> {
    /// `None` is poisoned.
    pub(super) fn new(model: &'b ModelBuilder, handle: Option<Handle>) -> Self {
        Self { model, handle }
    }

    pub(super) fn model(self) -> &'b ModelBuilder {
        self.model
    }

    pub(super) fn handle(self) -> Option<Handle> {
        self.handle
    }

    /// Its type; `None` when it is poisoned, or one of a function that has returned, which is reported.
    #[track_caller]
    fn ty(self) -> Option<TensorType> {
        self.model.core.borrow_mut().current_ty(self.handle, &Location::caller().into())
    }

    /// Its sizes; none when it is poisoned.
    #[track_caller]
    pub fn shape(self) -> Vec<usize> {
        self.ty().map_or_else(Vec::new, |ty| ty.shape().to_vec())
    }

    /// The number of its dimensions; 0 when it is poisoned.
    #[track_caller]
    pub fn rank(self) -> usize {
        self.shape().len()
    }

    /// Its element type; that of weights when it is poisoned.
    #[track_caller]
    pub fn dtype(self) -> DType {
        self.ty().map_or_else(|| self.model.float(), |ty| ty.dtype())
    }

    /// The same tensor with a name to be printed under, where it has none. A text names what it assigns. Parameters of
    /// [functions](ModelBuilder::function) are named after what they are first given, others are called `x`.
    #[must_use]
    pub fn named(self, name: impl Into<Name>) -> Self {
        self.model.core.borrow_mut().name_tensor(self.handle, name);
        self
    }
}

impl From<Tensor<'_>> for Argument {
    fn from(tensor: Tensor<'_>) -> Self {
        tensor.handle().into()
    }
}

impl From<&Tensor<'_>> for Argument {
    fn from(tensor: &Tensor<'_>) -> Self {
        tensor.handle().into()
    }
}
