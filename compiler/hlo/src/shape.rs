//! Shapes in messages, any that decode: sizes count as far as they can be counted, and nothing is refused.

use crate::proto::ShapeProto;
use halite_tensor::DType;
use halite_tensor::element_type::{self, TUPLE};

impl ShapeProto {
    /// Whether it is a tuple.
    pub fn is_tuple(&self) -> bool {
        self.element_type == TUPLE
    }

    /// The element type of an array; `None` for tuples and types that we lack.
    pub fn dtype(&self) -> Option<DType> {
        element_type::dtype(self.element_type)
    }

    /// The name of the element type; `?` for tuples and numbers that XLA does not define.
    pub fn element_name(&self) -> &'static str {
        element_type::name(self.element_type).unwrap_or("?")
    }

    /// The arrays, those of tuples in order.
    pub fn arrays(&self) -> Vec<&ShapeProto> {
        if self.is_tuple() { self.tuple_shapes.iter().flat_map(Self::arrays).collect() } else { vec![self] }
    }

    /// The number of elements of an array, at most `u64::MAX`; 0 for negative sizes.
    pub fn num_elements(&self) -> u64 {
        self.dimensions.iter().fold(1, |product, size| product.saturating_mul(u64::try_from(*size).unwrap_or(0)))
    }

    /// Bytes of all arrays, at most `u64::MAX`; none for element types that XLA does not define.
    pub fn num_bytes(&self) -> u64 {
        let bytes = |array: &ShapeProto| {
            array.num_elements().saturating_mul(element_type::bytes(array.element_type).unwrap_or(0))
        };
        self.arrays().into_iter().map(bytes).fold(0, u64::saturating_add)
    }

    /// Whether a size is not static.
    pub fn is_dynamic(&self) -> bool {
        self.is_dynamic_dimension.contains(&true) || self.tuple_shapes.iter().any(Self::is_dynamic)
    }
}

/// Whether shapes are of one type, layouts aside.
pub(crate) fn is_alike(one: &ShapeProto, other: &ShapeProto) -> bool {
    (one.element_type, &one.dimensions) == (other.element_type, &other.dimensions)
        && one.tuple_shapes.len() == other.tuple_shapes.len()
        && one.tuple_shapes.iter().zip(&other.tuple_shapes).all(|(one, other)| is_alike(one, other))
}
