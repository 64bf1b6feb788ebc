//! Operators on tensors, and on tensors and numbers.

use super::{Argument, BinaryOp, Caller, Comparison, Tensor};
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Rem, Sub};
use std::panic::Location;

fn binary<'b>(op: BinaryOp, of: Tensor<'b>, x: Argument, y: Argument, caller: &Caller) -> Tensor<'b> {
    let model = of.model();
    let result = model.core.borrow_mut().binary(op, x, y, caller);
    Tensor::new(model, result)
}

macro_rules! operators {
    ($($(#[$doc:meta])* $Trait:ident::$method:ident: $op:ident $(, and on $($number:ty)*)?;)*) => {$(
        $(#[$doc])*
        impl<'b, T: Into<Argument>> $Trait<T> for Tensor<'b> {
            type Output = Tensor<'b>;

            #[track_caller]
            fn $method(self, other: T) -> Tensor<'b> {
                binary(BinaryOp::$op, self, self.into(), other.into(), &Location::caller().into())
            }
        }

        $($(
            impl<'b> $Trait<Tensor<'b>> for $number {
                type Output = Tensor<'b>;

                #[track_caller]
                fn $method(self, other: Tensor<'b>) -> Tensor<'b> {
                    binary(BinaryOp::$op, other, self.into(), other.into(), &Location::caller().into())
                }
            }
        )*)?
    )*};
}

operators! {
    Add::add: Add, and on f64 i32 i64 usize;
    Sub::sub: Subtract, and on f64 i32 i64 usize;
    Mul::mul: Multiply, and on f64 i32 i64 usize;
    Div::div: Divide, and on f64 i32 i64 usize;
    Rem::rem: Remainder, and on f64 i32 i64 usize;
    /// Element by element on truth values or on the bits of integers.
    BitAnd::bitand: And;
    /// Element by element on truth values or on the bits of integers.
    BitOr::bitor: Or;
}

impl<'b> Neg for Tensor<'b> {
    type Output = Tensor<'b>;

    #[track_caller]
    fn neg(self) -> Tensor<'b> {
        let model = self.model();
        let result = model.core.borrow_mut().negate(self.into(), &Location::caller().into());
        Tensor::new(model, result)
    }
}

/// Element by element on truth values or on the bits of integers.
impl<'b> Not for Tensor<'b> {
    type Output = Tensor<'b>;

    #[track_caller]
    fn not(self) -> Tensor<'b> {
        let model = self.model();
        let result = model.core.borrow_mut().not(self.into(), &Location::caller().into());
        Tensor::new(model, result)
    }
}

macro_rules! compare {
    ($($(#[$doc:meta])* $method:ident: $comparison:ident;)*) => {
        impl<'b> Tensor<'b> {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $method(self, other: impl Into<Argument>) -> Tensor<'b> {
                let op = BinaryOp::Compare(Comparison::$comparison);
                binary(op, self, self.into(), other.into(), &Location::caller().into())
            }
        )*}
    };
}

compare! {
    /// Where the two are equal, as `pred`.
    equal: Equal;
    /// Where the two differ, as `pred`.
    not_equal: NotEqual;
    /// Where this is less, as `pred`.
    less: Less;
    /// Where this is at most the other, as `pred`.
    less_equal: LessEqual;
    /// Where this is greater, as `pred`.
    greater: Greater;
    /// Where this is at least the other, as `pred`.
    greater_equal: GreaterEqual;
}

impl<'b> Tensor<'b> {
    /// The product of the last dimension with the one before the last of `other`: `[.., n, k]` and `[k, m]` give `[.., n, m]`,
    /// `[b, n, k]` and `[b, k, m]` give `[b, n, m]`; leading dimensions of both are repeated as by other operators. Both are floats of one type, which the result has; sums are taken in `f32`, of `f64` in `f64`. Sizes that
    /// do not meet are a mistake.
    #[track_caller]
    pub fn matmul(self, other: Tensor<'b>) -> Tensor<'b> {
        binary(BinaryOp::Matmul, self, self.into(), other.into(), &Location::caller().into())
    }
}
