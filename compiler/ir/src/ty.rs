//! Types of values.

use halite_tensor::{DType, Shape};
use smallvec::SmallVec;
use std::fmt;

/// Types of an instruction's results, in order.
pub type Types = SmallVec<[TensorType; 1]>;

/// The static type of a value on each rank: element type and shape.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TensorType {
    dtype: DType,
    shape: Shape,
}

impl TensorType {
    /// A type of this element type and shape.
    pub fn new(dtype: DType, shape: impl Into<Shape>) -> Self {
        Self { dtype, shape: shape.into() }
    }

    /// A type of rank 0.
    pub fn scalar(dtype: DType) -> Self {
        Self::new(dtype, Shape::scalar())
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Sizes.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Whether it can be declared a causal mask: `pred[.., size, size]`.
    pub fn is_mask(&self) -> bool {
        self.dtype == DType::Pred && matches!(&*self.shape, [.., queries, keys] if queries == keys)
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// The same type with other elements.
    #[must_use]
    pub fn with_dtype(&self, dtype: DType) -> Self {
        Self { dtype, ..self.clone() }
    }

    /// The same type with another shape.
    #[must_use]
    pub fn with_shape(&self, shape: impl Into<Shape>) -> Self {
        Self { shape: shape.into(), ..self.clone() }
    }

    /// Bytes of all elements.
    pub fn bytes(&self) -> u64 {
        self.shape.num_elements() as u64 * self.dtype.size() as u64
    }
}

impl fmt::Display for TensorType {
    /// `f32[4,8]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.dtype, self.shape)
    }
}

impl fmt::Debug for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
