//! Methods of tensors.

use super::{Argument, Call, Subscripts, Tensor};
use std::panic::Location;

impl<'b> Tensor<'b> {
    /// The size of a dimension, counted from the end when negative. A dimension that is not there is a mistake and has the
    /// size 1, as every dimension of a poisoned tensor.
    #[track_caller]
    pub fn dim(self, dim: i64) -> usize {
        self.model().core.borrow_mut().dim(self.handle(), dim, &Location::caller().into())
    }

    #[track_caller]
    fn call(self, name: &str, rest: Vec<Argument>) -> Self {
        let operands = std::iter::once(self.into()).chain(rest).collect();
        Call::new(self.model(), name, operands, Location::caller().into()).one()
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
        let (model, caller) = (self.model(), Location::caller().into());
        let part = model.core.borrow_mut().slice(self.handle(), &subscripts.subscripts(), &caller);
        Self::new(model, part)
    }

    /// Equal parts of a dimension, as many as are asked for: `let [q, k, v] = x.split(-1)`. A size that is no multiple of
    /// their number is a mistake.
    #[track_caller]
    pub fn split<const N: usize>(self, dim: i64) -> [Self; N] {
        Call::new(self.model(), "split", vec![self.into(), N.into(), dim.into()], Location::caller().into()).results()
    }
}

macro_rules! methods {
    ($($(#[$doc:meta])* $method:ident = $name:literal ($($argument:ident),*);)*) => {
        impl<'b> Tensor<'b> {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $method(self, $($argument: impl Into<Argument>),*) -> Self {
                self.call($name, vec![$($argument.into()),*])
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
    /// The Gauss error function of floats.
    erf = "erf" ();
    /// -1, 0 or 1, as the element is below, at or above 0.
    sign = "sign" ();
    /// `log(1 + exp(x))` of floats.
    softplus = "softplus" ();
    /// The same tensor, through which no gradient goes.
    stop_gradient = "stop_gradient" ();
    /// Every element at least the first and at most the second, each a number or a scalar.
    clamp = "clamp" (low, high);
    /// The position of the greatest element along a dimension, as `s32`, the first of equal ones.
    argmax = "argmax" (dim);
    /// The position of the least element along a dimension, as `s32`, the first of equal ones.
    argmin = "argmin" (dim);
    /// The elements along a dimension in increasing order.
    sort = "sort" (dim);
    /// The positions along a dimension of the elements in increasing order, as `s32`.
    argsort = "argsort" (dim);
    /// The elements at these positions along a dimension, which the dimensions of `indices` take the place of. Positions are whole
    /// numbers; those out of range are clamped.
    take = "take" (indices, dim);
    /// One element for each position, at the same place but for this dimension. Positions out of range are clamped.
    gather = "gather" (indices, dim);
    /// A further dimension, last, of `size` elements, which is 1 where it has the index that this tensor holds and 0 elsewhere.
    one_hot = "one_hot" (size);
    /// With its elements backwards along these dimensions.
    reverse = "reverse" (dims);
    /// The greatest element along these dimensions, which are dropped. To keep them with size 1, here and in the other
    /// reductions: `m.call("max", [x]).named("dims", dims).named("keep", true)`. A dimension that is not there or named twice
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
    /// In another element type, a [`DType`](halite_tensor::DType); what a narrower float cannot hold is rounded to the nearest, ties
    /// to even.
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
