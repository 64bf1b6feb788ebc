//! Types of HLO values and their form as [`ShapeProto`].

use crate::proto::{LayoutProto, ShapeProto};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::element_type::{self, TUPLE};
use halite_tensor::{DType, Shape};
use std::fmt;

/// Element type and sizes of an array.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ArrayType {
    /// Element type.
    pub dtype: DType,
    /// Sizes.
    pub shape: Shape,
}

impl ArrayType {
    /// An array type.
    pub fn new(dtype: DType, shape: impl Into<Shape>) -> Self {
        Self { dtype, shape: shape.into() }
    }

    /// A scalar type.
    pub fn scalar(dtype: DType) -> Self {
        Self { dtype, shape: Shape::scalar() }
    }

    /// The same sizes with another element type.
    #[must_use]
    pub fn with_dtype(&self, dtype: DType) -> Self {
        Self { dtype, shape: self.shape.clone() }
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// Number of elements; `None` when the bytes of the array do not fit in 63 bits, the largest size XLA can hold.
    pub fn num_elements(&self) -> Option<usize> {
        let elements = checked_product(&self.shape)?;
        let bytes = elements.checked_mul(self.dtype.size())?;
        i64::try_from(bytes).ok().map(|_| elements)
    }
}

/// The product of all sizes, or `None` when leaving out the zeros it does not fit.
fn checked_product(sizes: &[usize]) -> Option<usize> {
    let nonzero = sizes.iter().filter(|size| **size != 0).try_fold(1usize, |product, size| product.checked_mul(*size));
    nonzero.map(|product| if sizes.contains(&0) { 0 } else { product })
}

impl fmt::Display for ArrayType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.dtype, self.shape)
    }
}

impl fmt::Debug for ArrayType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The type of an instruction's result.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// One array.
    Array(ArrayType),
    /// Several results in order.
    Tuple(Vec<Type>),
}

impl Type {
    /// The array, or a diagnostic when this is a tuple.
    pub fn array(&self) -> Result<&ArrayType> {
        match self {
            Type::Array(array) => Ok(array),
            Type::Tuple(_) => {
                Err(Diagnostic::error(codes::DTYPE, format!("an array is needed, found the tuple `{self}`")))
            }
        }
    }

    /// The message form: row-major, static.
    pub fn to_proto(&self) -> ShapeProto {
        match self {
            Type::Array(array) => array_to_proto(array),
            Type::Tuple(items) => ShapeProto {
                element_type: TUPLE,
                tuple_shapes: items.iter().map(|item| item.to_proto().into()).collect(),
                ..ShapeProto::default()
            },
        }
    }

    /// Reads the message form.
    ///
    /// # Errors
    /// On dynamic or negative sizes, arrays beyond 63 bits of bytes, and element types without a [`DType`].
    pub fn from_proto(proto: &ShapeProto) -> Result<Self> {
        if proto.element_type == TUPLE {
            if !proto.dimensions.is_empty() {
                return Err(Diagnostic::error(codes::SHAPE, "a tuple shape has dimensions"));
            }
            return proto
                .tuple_shapes
                .iter()
                .map(|part| Type::from_proto(part))
                .collect::<Result<_>>()
                .map(Type::Tuple);
        }
        array_from_proto(proto).map(Type::Array)
    }
}

impl From<ArrayType> for Type {
    fn from(array: ArrayType) -> Self {
        Type::Array(array)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Array(array) => array.fmt(f),
            Type::Tuple(items) => {
                f.write_str("(")?;
                for (index, item) in items.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    item.fmt(f)?;
                }
                f.write_str(")")
            }
        }
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn array_to_proto(array: &ArrayType) -> ShapeProto {
    let rank = array.rank();
    ShapeProto {
        element_type: element_type::number(array.dtype),
        dimensions: array.shape.iter().map(|size| *size as i64).collect(),
        tuple_shapes: Vec::new(),
        layout: Some(LayoutProto {
            minor_to_major: (0..rank as i64).rev().collect(),
            tail_padding_alignment_in_elements: 1,
        }),
        is_dynamic_dimension: vec![false; rank],
    }
}

fn array_from_proto(proto: &ShapeProto) -> Result<ArrayType> {
    let Some(dtype) = element_type::dtype(proto.element_type) else {
        let message = match element_type::name(proto.element_type) {
            Some(name) => format!("element type `{name}` is not supported"),
            None => format!("{} is not the number of an element type", proto.element_type),
        };
        return Err(Diagnostic::error(codes::DTYPE, message));
    };
    if !proto.tuple_shapes.is_empty() {
        return Err(Diagnostic::error(codes::SHAPE, "an array shape has tuple elements"));
    }
    let dynamic = &proto.is_dynamic_dimension;
    if dynamic.contains(&true) || !(dynamic.is_empty() || dynamic.len() == proto.dimensions.len()) {
        return Err(Diagnostic::error(codes::SHAPE, "every size must be static"));
    }
    let size = |size: &i64| usize::try_from(*size).map_err(|_| format!("the size {size} is negative"));
    let shape = proto.dimensions.iter().map(size).collect::<std::result::Result<Shape, _>>();
    let array = ArrayType { dtype, shape: shape.map_err(|message| Diagnostic::error(codes::SHAPE, message))? };
    if array.num_elements().is_none() {
        return Err(Diagnostic::error(codes::SHAPE, format!("`{array}` has more bytes than fit in 63 bits")));
    }
    Ok(array)
}
