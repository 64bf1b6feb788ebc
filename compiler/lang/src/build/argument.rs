//! Arguments of calls.

use super::core::Handle;
use crate::ops::Factors;
use halite_ir::{SizeFactor, product_of};
use halite_support::Name;
use halite_tensor::DType;

/// An operand or attribute: a tensor, a number, a truth value, a word, an element type, or a list of these.
///
/// It is made by `Into`: `2`, `1e-5`, `true`, `"tanh"`, `DType::F32`, `[batch, seq]`, a [`Tensor`](super::Tensor). A number among tensors
/// takes the element type and the shape of the tensor it is combined with.
#[derive(Clone, Debug)]
pub struct Argument(pub(super) Kind);

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// `None` when it is poisoned.
    Tensor(Option<Handle>),
    Int(i64),
    Product(i64, Factors),
    Real(f64),
    Bool(bool),
    Text(Name),
    Type(DType),
    List(Vec<Argument>),
}

impl Argument {
    /// A size as a product of factors, major first. The dimension of a [parameter](super::ModelBuilder::param) that is declared with it
    /// keeps their names, by which recipes say along which dimensions weights are sharded. A model text has the names of its
    /// configuration for that.
    ///
    /// ```
    /// # use halite_lang::build::{Argument, Init, ModelBuilder, SizeFactor};
    /// # let registry = halite_ir::Registry::builtin();
    /// # let m = ModelBuilder::new("m", &registry);
    /// let rows = Argument::product([SizeFactor::named("heads", 4), SizeFactor::named("head_dim", 8)]);
    /// let weight = m.param("q_proj.weight", [rows, 16.into()], Init::Zeros);
    /// assert_eq!(weight.shape(), [32, 16]);
    /// ```
    pub fn product(factors: impl IntoIterator<Item = SizeFactor>) -> Self {
        let factors: Vec<SizeFactor> = factors.into_iter().collect();
        let size = product_of(&factors).and_then(|size| i64::try_from(size).ok());
        // A size beyond 63 bits is beyond every tensor.
        Self(Kind::Product(size.unwrap_or(i64::MAX), Factors::new(factors)))
    }
}

macro_rules! from {
    ($($ty:ty: $value:ident => $kind:expr;)*) => {$(
        impl From<$ty> for Argument {
            fn from($value: $ty) -> Self {
                Self($kind)
            }
        }
    )*};
}

from! {
    i32: value => Kind::Int(value.into());
    i64: value => Kind::Int(value);
    u32: value => Kind::Int(value.into());
    usize: value => Kind::Int(i64::try_from(value).unwrap_or(i64::MAX));
    f64: value => Kind::Real(value);
    bool: value => Kind::Bool(value);
    &str: value => Kind::Text(value.into());
    String: value => Kind::Text(value.into());
    DType: value => Kind::Type(value);
}

/// `None` stands for a poisoned tensor.
impl From<Option<Handle>> for Argument {
    fn from(tensor: Option<Handle>) -> Self {
        Self(Kind::Tensor(tensor))
    }
}

impl<T: Into<Argument>, const N: usize> From<[T; N]> for Argument {
    fn from(items: [T; N]) -> Self {
        Self(Kind::List(items.into_iter().map(Into::into).collect()))
    }
}

impl<T: Into<Argument>> From<Vec<T>> for Argument {
    fn from(items: Vec<T>) -> Self {
        Self(Kind::List(items.into_iter().map(Into::into).collect()))
    }
}

impl<T: Clone + Into<Argument>> From<&[T]> for Argument {
    fn from(items: &[T]) -> Self {
        Self(Kind::List(items.iter().cloned().map(Into::into).collect()))
    }
}
