//! Patterns, and the words to write them with.

use halite_ir::composites::CausalMask;
use halite_ir::ops::{
    Add, Concatenate, Cosine, Divide, Erf, Exponential, Log, Logistic, Maximum, Multiply, Negate, Power, Reduce,
    Reduction, Rsqrt, Sine, Slice, Sqrt, Subtract, Tanh,
};
use halite_ir::{Attrs, Composite, Op};
use std::mem::{Discriminant, discriminant};

/// A pattern of instructions, from the result towards the operands. A name binds what it meets first; met again, it must stand for the
/// same.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    /// Any tensor.
    Tensor(&'static str),
    /// One number everywhere, whichever it is.
    Number(&'static str),
    /// One number everywhere: this one, up to two units of roundoff where the element type does not have it.
    Is(f64),
    /// One number everywhere: the count of elements that a reduction matched before combines, or one over it.
    Size {
        /// The name that the reduction gave its dimensions.
        of: &'static str,
        /// Whether it is one over the count.
        reciprocal: bool,
    },
    /// A primitive without attributes.
    Op(Op, Vec<Pattern>),
    /// A composite, whatever its attributes.
    Composite(&'static str, Vec<Pattern>),
    /// A reduction; the name binds the dimensions of the root that it is over.
    Reduce(Reduction, &'static str, Box<Pattern>),
    /// Parts that follow each other along the last dimension of the root.
    Concatenate(Vec<Pattern>),
    /// One half of a tensor along the last dimension of the root.
    Half(Side, Box<Pattern>),
    /// The first of several that fits.
    Either(Vec<Pattern>),
    /// A pattern that is expected here. Anything else is an obstacle to the rule, for this reason.
    Near(Box<Pattern>, &'static str),
}

/// One half of a dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    /// The half that begins at 0.
    First,
    /// The half that ends at the size.
    Second,
}

impl Pattern {
    /// The ops of the instructions that it can begin with; none for a pattern that is no instruction.
    pub(super) fn roots(&self) -> Vec<Discriminant<Op>> {
        match self {
            Pattern::Op(op, _) => vec![discriminant(op)],
            Pattern::Composite(..) => {
                let any = Composite::of(&CausalMask, Attrs::default());
                vec![discriminant(&Op::Composite(any))]
            }
            Pattern::Reduce(..) => vec![discriminant(&Op::Reduce(Reduce::default()))],
            Pattern::Concatenate(_) => vec![discriminant(&Op::Concatenate(Concatenate::default()))],
            Pattern::Half(..) => vec![discriminant(&Op::Slice(Slice::default()))],
            Pattern::Either(options) => options.iter().flat_map(Pattern::roots).collect(),
            Pattern::Near(pattern, _) => pattern.roots(),
            Pattern::Tensor(_) | Pattern::Number(_) | Pattern::Is(_) | Pattern::Size { .. } => Vec::new(),
        }
    }
}

/// Any tensor.
pub(crate) fn tensor(name: &'static str) -> Pattern {
    Pattern::Tensor(name)
}

/// One number everywhere, whichever it is.
pub(crate) fn number(name: &'static str) -> Pattern {
    Pattern::Number(name)
}

/// This number everywhere.
pub(crate) fn is(number: f64) -> Pattern {
    Pattern::Is(number)
}

/// The number of elements that the reduction over `of` combines.
pub(crate) fn size(of: &'static str) -> Pattern {
    Pattern::Size { of, reciprocal: false }
}

/// One over the number of elements that the reduction over `of` combines.
pub(crate) fn one_over_size(of: &'static str) -> Pattern {
    Pattern::Size { of, reciprocal: true }
}

/// The first of several patterns that fits.
pub(crate) fn either(options: impl IntoIterator<Item = Pattern>) -> Pattern {
    Pattern::Either(options.into_iter().collect())
}

/// `pattern`, or else a reason why the rule does not apply.
pub(crate) fn near(pattern: Pattern, otherwise: &'static str) -> Pattern {
    Pattern::Near(Box::new(pattern), otherwise)
}

/// A reduction of `x`; `dims` names the dimensions.
pub(crate) fn reduce(kind: Reduction, dims: &'static str, x: Pattern) -> Pattern {
    Pattern::Reduce(kind, dims, Box::new(x))
}

/// A composite of these operands.
pub(crate) fn composite(name: &'static str, args: impl IntoIterator<Item = Pattern>) -> Pattern {
    Pattern::Composite(name, args.into_iter().collect())
}

/// Parts along the last dimension of the root.
pub(crate) fn concatenate(parts: impl IntoIterator<Item = Pattern>) -> Pattern {
    Pattern::Concatenate(parts.into_iter().collect())
}

/// One half of `x` along the last dimension of the root.
pub(crate) fn half(side: Side, x: Pattern) -> Pattern {
    Pattern::Half(side, Box::new(x))
}

macro_rules! unary {
    ($($name:ident $Op:ident),* $(,)?) => {$(
        #[doc = concat!("`", stringify!($name), "` of `x`.")]
        pub(crate) fn $name(x: Pattern) -> Pattern {
            Pattern::Op($Op.into(), vec![x])
        }
    )*};
}

macro_rules! binary {
    ($($name:ident $Op:ident),* $(,)?) => {$(
        #[doc = concat!("`", stringify!($name), "` of `x` and `y`.")]
        pub(crate) fn $name(x: Pattern, y: Pattern) -> Pattern {
            Pattern::Op($Op.into(), vec![x, y])
        }
    )*};
}

unary! {
    cosine Cosine, erf Erf, exponential Exponential, log Log, logistic Logistic, negate Negate, rsqrt Rsqrt,
    sine Sine, sqrt Sqrt, tanh Tanh,
}

binary! {
    add Add, divide Divide, maximum Maximum, multiply Multiply, power Power, subtract Subtract,
}
