//! What calls are given.

use super::{Caller, ModelBuilder, Tensor};
use crate::ops::{Factors, MAX_LIST_DEPTH, Value};
use halite_ir::{SizeFactor, product_of};
use halite_support::{Diagnostic, Name, codes};
use halite_tensor::DType;

/// An operand or attribute: a tensor, a number, a truth value, a word, an element type, or a list of these.
///
/// It is made by `Into`: `2`, `1e-5`, `true`, `"tanh"`, `DType::F32`, `[batch, seq]`, a [`Tensor`]. A number among tensors
/// takes the element type and the shape of the tensor it is combined with.
#[derive(Clone, Debug)]
pub struct Argument<'b>(Kind<'b>);

#[derive(Clone, Debug)]
enum Kind<'b> {
    Tensor(Tensor<'b>),
    Int(i64),
    Product(i64, Factors),
    Real(f64),
    Bool(bool),
    Text(Name),
    Type(DType),
    List(Vec<Argument<'b>>),
}

impl Argument<'_> {
    /// A size as a product of factors, major first. The dimension of a [parameter](ModelBuilder::param) that is declared with it
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

impl ModelBuilder<'_> {
    /// The value of an argument; `None` when it is poisoned, or wrong and reported.
    pub(super) fn value(&self, argument: Argument<'_>, caller: Caller) -> Option<Value> {
        match argument.0 {
            Kind::Tensor(tensor) => self.tensor(tensor, caller).map(Value::Tensor),
            Kind::Int(value) => Some(Value::int(value)),
            Kind::Product(value, factors) => Some(Value::Int(value, factors)),
            Kind::Real(value) if !value.is_finite() => {
                self.report(
                    not_finite(value).help("use a finite number, e.g. the largest of the element type"),
                    caller,
                );
                None
            }
            Kind::Real(value) => Some(Value::Real(value)),
            Kind::Bool(value) => Some(Value::Bool(value)),
            Kind::Text(text) => Some(Value::Text(text)),
            Kind::Type(dtype) => Some(Value::Type(self.stated(dtype))),
            Kind::List(items) => {
                let items = items.into_iter().map(|item| self.value(item, caller)).collect::<Option<_>>()?;
                let deep = || {
                    let message = format!("lists nest more than {MAX_LIST_DEPTH} deep");
                    self.report(Diagnostic::error(codes::LIMIT, message).help("keep the items in one list"), caller);
                };
                Value::list(items).or_else(|| {
                    deep();
                    None
                })
            }
        }
    }
}

/// A number that the model language cannot say.
pub(super) fn not_finite(value: f64) -> Diagnostic {
    Diagnostic::error(codes::ARITHMETIC, format!("`{value}` is not a finite number"))
}

macro_rules! from {
    ($($ty:ty: $value:ident => $kind:expr;)*) => {$(
        impl From<$ty> for Argument<'_> {
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

impl<'b> From<Tensor<'b>> for Argument<'b> {
    fn from(tensor: Tensor<'b>) -> Self {
        Self(Kind::Tensor(tensor))
    }
}

impl<'b> From<&Tensor<'b>> for Argument<'b> {
    fn from(tensor: &Tensor<'b>) -> Self {
        Self(Kind::Tensor(*tensor))
    }
}

impl<'b, T: Into<Argument<'b>>, const N: usize> From<[T; N]> for Argument<'b> {
    fn from(items: [T; N]) -> Self {
        Self(Kind::List(items.into_iter().map(Into::into).collect()))
    }
}

impl<'b, T: Into<Argument<'b>>> From<Vec<T>> for Argument<'b> {
    fn from(items: Vec<T>) -> Self {
        Self(Kind::List(items.into_iter().map(Into::into).collect()))
    }
}

impl<'b, T: Clone + Into<Argument<'b>>> From<&[T]> for Argument<'b> {
    fn from(items: &[T]) -> Self {
        Self(Kind::List(items.iter().cloned().map(Into::into).collect()))
    }
}
