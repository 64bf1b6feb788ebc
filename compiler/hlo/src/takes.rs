//! Classes of element types.

use halite_tensor::DType;

/// A class of element types that an op takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    /// Floats.
    Float,
    /// Integers.
    Int,
    /// Floats and integers.
    Number,
    /// Signed integers and floats.
    Signed,
    /// Integers and `pred`.
    Logic,
    /// Every element: `pred` as its bits, of which a sum or a maximum is an or and a product or a minimum an and.
    Any,
}

impl Takes {
    /// Whether an element type is of the class.
    pub fn fits(self, dtype: DType) -> bool {
        match self {
            Takes::Float => dtype.is_float(),
            Takes::Int => dtype.is_int(),
            Takes::Number => dtype.is_float() || dtype.is_int(),
            Takes::Signed => dtype.is_signed(),
            Takes::Logic => !dtype.is_float(),
            Takes::Any => true,
        }
    }

    /// The name of its elements.
    pub(crate) fn kinds(self) -> &'static str {
        match self {
            Takes::Float => "float",
            Takes::Int => "integer",
            Takes::Number => "integer or float",
            Takes::Signed => "signed integer or float",
            Takes::Logic => "integer or pred",
            Takes::Any => "integer, float or pred",
        }
    }
}
