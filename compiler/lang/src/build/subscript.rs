//! Positions and ranges in Rust's notation.

use std::ops::{Range, RangeFrom, RangeFull, RangeTo};

pub use crate::ops::Subscript;

/// The subscripts of [`Tensor::slice`](super::Tensor::slice): a tuple of positions and ranges, e.g. `(.., 1..)` or `(0, ..-1)`, or a
/// list of [`Subscript`]s.
pub trait Subscripts: sealed::Sealed {
    /// One for each leading dimension.
    fn subscripts(self) -> Vec<Subscript>;
}

mod sealed {
    pub trait Sealed {}
}

impl From<RangeFull> for Subscript {
    fn from(_: RangeFull) -> Self {
        Self::Range(None, None)
    }
}

macro_rules! from_index {
    ($($ty:ty),*) => {$(
        impl From<$ty> for Subscript {
            fn from(at: $ty) -> Self {
                Self::At(index(at))
            }
        }

        impl From<Range<$ty>> for Subscript {
            fn from(range: Range<$ty>) -> Self {
                Self::Range(Some(index(range.start)), Some(index(range.end)))
            }
        }

        impl From<RangeFrom<$ty>> for Subscript {
            fn from(range: RangeFrom<$ty>) -> Self {
                Self::Range(Some(index(range.start)), None)
            }
        }

        impl From<RangeTo<$ty>> for Subscript {
            fn from(range: RangeTo<$ty>) -> Self {
                Self::Range(None, Some(index(range.end)))
            }
        }
    )*};
}

from_index!(i32, i64, usize);

/// A position beyond 63 bits is beyond every size.
fn index<T: TryInto<i64>>(at: T) -> i64 {
    at.try_into().unwrap_or(i64::MAX)
}

macro_rules! tuples {
    ($(($($part:ident),+);)*) => {$(
        impl<$($part: Into<Subscript>),+> sealed::Sealed for ($($part,)+) {}

        impl<$($part: Into<Subscript>),+> Subscripts for ($($part,)+) {
            #[allow(non_snake_case, reason = "a variable for each type")]
            fn subscripts(self) -> Vec<Subscript> {
                let ($($part,)+) = self;
                vec![$($part.into()),+]
            }
        }
    )*};
}

tuples! {
    (A);
    (A, B);
    (A, B, C);
    (A, B, C, D);
    (A, B, C, D, E);
    (A, B, C, D, E, F);
}

impl sealed::Sealed for Vec<Subscript> {}

impl Subscripts for Vec<Subscript> {
    fn subscripts(self) -> Vec<Subscript> {
        self
    }
}
