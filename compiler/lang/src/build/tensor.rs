//! Handles of tensors.

use super::{Argument, Caller, ModelBuilder, Subscripts};
use crate::ops::{Given, Ops, Value};
use halite_ir::Value as Id;
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

    /// The size of a dimension, counted from the end when negative. A dimension that is not there is a mistake and has the
    /// size 1, as every dimension of a poisoned tensor.
    #[track_caller]
    pub fn dim(self, dim: i64) -> usize {
        let operands = [self.into(), dim.into()];
        let size = self.model.operate(Location::caller(), operands, |ops, operands| {
            ops.call("dim", operands.map(Given::positional).to_vec(), &())
        });
        match size.as_deref() {
            Some([Value::Int(size)]) => usize::try_from(*size).unwrap_or(1),
            _ => 1,
        }
    }

    /// The same tensor with a name to be printed under, where it has none.
    #[must_use]
    pub fn named(self, name: impl Into<Name>) -> Self {
        if let Some(value) = self.value {
            self.model.state.borrow_mut().draft.name_value(value, name);
        }
        self
    }

    fn call(self, caller: Caller, name: &str, rest: Vec<Argument<'b>>) -> Self {
        let operands = std::iter::once(self.into()).chain(rest).collect();
        Self { value: self.model.call_one(caller, name, operands), ..self }
    }

    /// Leading dimensions as the subscripts say, the others whole: a range keeps its dimension, a position drops it.
    /// Positions are counted from the end when negative.
    ///
    /// A mistake: more subscripts than dimensions, a position that is not there, an empty range.
    ///
    /// ```
    /// # use halite_lang::build::ModelBuilder;
    /// # let registry = halite_ir::Registry::builtin();
    /// # let m = ModelBuilder::new("m", &registry);
    /// let x = m.batch("x", halite_tensor::DType::F32, [4, 6, 8]);
    /// assert_eq!(x.slice((1..3, .., -1)).shape(), [2, 6]);
    /// ```
    #[track_caller]
    pub fn slice(self, subscripts: impl Subscripts) -> Self {
        let subscripts = subscripts.subscripts();
        let operation = |ops: &mut Ops<'_>, [x]: [Value; 1]| match x {
            Value::Tensor(tensor) => ops.slice(tensor, &subscripts, &()),
            other => Ok(other),
        };
        Self::of(self.model, self.model.operate(Location::caller(), [self.into()], operation))
    }

    /// Equal parts of a dimension, as many as are asked for: `let [q, k, v] = x.split(-1)`. A size that is no multiple of
    /// their number is a mistake.
    #[track_caller]
    pub fn split<const N: usize>(self, dim: i64) -> [Self; N] {
        super::Call::new(self.model, "split", vec![self.into(), N.into(), dim.into()], Location::caller()).results()
    }
}

macro_rules! methods {
    ($($(#[$doc:meta])* $method:ident = $name:literal ($($argument:ident),*);)*) => {
        impl<'b> Tensor<'b> {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $method(self, $($argument: impl Into<Argument<'b>>),*) -> Self {
                self.call(Location::caller(), $name, vec![$($argument.into()),*])
            }
        )*}
    };
}

methods! {
    /// The absolute value of floats and signed integers.
    abs = "abs" ();
    /// The least whole number that is not less, of floats and as floats.
    ceil = "ceil" ();
    /// The cosine of floats.
    cos = "cos" ();
    /// The exponential of floats.
    exp = "exp" ();
    /// The exponential less 1, of floats.
    expm1 = "expm1" ();
    /// The greatest whole number that is not greater, of floats and as floats.
    floor = "floor" ();
    /// The natural logarithm of floats.
    log = "log" ();
    /// The natural logarithm of 1 more, of floats.
    log1p = "log1p" ();
    /// The nearest whole number, ties to the even one, of floats and as floats.
    round = "round" ();
    /// 1 divided by the square root, of floats.
    rsqrt = "rsqrt" ();
    /// The logistic function of floats.
    sigmoid = "sigmoid" ();
    /// The sine of floats.
    sin = "sin" ();
    /// The square root of floats.
    sqrt = "sqrt" ();
    /// The hyperbolic tangent of floats.
    tanh = "tanh" ();
    /// The greater of the two, element by element; floats or integers.
    maximum = "maximum" (other);
    /// The lesser of the two, element by element; floats or integers.
    minimum = "minimum" (other);
    /// This to the power of the other, element by element; floats or integers.
    power = "power" (other);
    /// The greatest element along these dimensions, which are dropped. To keep them with size 1, here and in the other
    /// reductions: `m.call("max", [x]).attr("dims", dims).attr("keep", true)`. A dimension that is not there or named twice
    /// is a mistake.
    max = "max" (dims);
    /// The least element along these dimensions, which are dropped.
    min = "min" (dims);
    /// The sum along these dimensions, which are dropped, in the element type of this tensor.
    sum = "sum" (dims);
    /// The mean along these dimensions, which are dropped, in the element type of this tensor: integers are divided as such.
    mean = "mean" (dims);
    /// The sum of all elements, a scalar.
    sum_all = "sum" ();
    /// The mean of all elements, a scalar.
    mean_all = "mean" ();
    /// Repeated to a shape; dimensions are aligned at the last one, a size of 1 is repeated too. A shape of lower rank, or
    /// with another size where this has more than 1, is a mistake.
    broadcast = "broadcast" (shape);
    /// In another element type, a [`DType`]; what a narrower float cannot hold is rounded to the nearest, ties to even.
    convert = "convert" (dtype);
    /// In another shape with as many elements, in row-major order; one size may be left open as -1. A shape with another
    /// number of elements is a mistake.
    reshape = "reshape" (shape);
    /// With its dimensions in this order: dimension `i` of the result is `order[i]` of this tensor. An order that does not
    /// name each dimension once is a mistake.
    transpose = "transpose" (order);
    /// `x * sigmoid(x)` of floats.
    silu = "silu" ();
}
