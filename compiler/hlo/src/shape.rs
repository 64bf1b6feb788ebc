//! Shapes in messages, any that decode: sizes count as far as they can be counted, and nothing is refused.

use crate::proto::{LayoutProto, ShapeProto};
use halite_support::{Diagnostic, Result, codes};
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
        if self.is_tuple() { self.tuple_shapes.iter().flat_map(|part| part.arrays()).collect() } else { vec![self] }
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
        self.is_dynamic_dimension.contains(&true) || self.tuple_shapes.iter().any(|part| part.is_dynamic())
    }
}

/// Whether shapes are of one type, layouts aside.
pub(crate) fn is_alike(one: &ShapeProto, other: &ShapeProto) -> bool {
    (one.element_type, &one.dimensions) == (other.element_type, &other.dimensions)
        && one.tuple_shapes.len() == other.tuple_shapes.len()
        && one.tuple_shapes.iter().zip(&other.tuple_shapes).all(|(one, other)| is_alike(one, other))
}

/// Sees to it that the layout of an array, if it has one, names each of its dimensions once.
///
/// # Errors
/// When it does not.
pub(crate) fn require_permutation(shape: &ShapeProto) -> Result<()> {
    let Some(LayoutProto { minor_to_major, .. }) = &shape.layout else { return Ok(()) };
    let mut dims = minor_to_major.clone();
    dims.sort_unstable();
    if dims.iter().copied().eq(0..shape.dimensions.len() as i64) {
        return Ok(());
    }
    let message = format!("the layout {minor_to_major:?} is no permutation of {} dimensions", shape.dimensions.len());
    Err(Diagnostic::error(codes::SHAPE, message))
}
