//! Types of HLO values and their form as [`ShapeProto`].

use crate::proto::{LayoutProto, ShapeProto};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, Shape};
use std::fmt;

/// The element type number of a tuple in [`ShapeProto`].
pub const TUPLE: i32 = 13;

/// Names of the element types that have no [`DType`], with their numbers in the public schema.
const FOREIGN: &[(i32, &str)] = &[
    (14, "opaque"),
    (15, "c64"),
    (17, "token"),
    (18, "c128"),
    (19, "f8e5m2"),
    (20, "f8e4m3fn"),
    (21, "s4"),
    (22, "u4"),
    (23, "f8e4m3b11fnuz"),
    (24, "f8e5m2fnuz"),
    (25, "f8e4m3fnuz"),
    (26, "s2"),
    (27, "u2"),
    (28, "f8e4m3"),
    (29, "f8e3m4"),
    (30, "s1"),
    (31, "u1"),
    (32, "f4e2m1fn"),
    (33, "f8e8m0fnu"),
];

/// Number of a [`DType`] in the public schema's `PrimitiveType`.
pub fn element_type(dtype: DType) -> i32 {
    match dtype {
        DType::Pred => 1,
        DType::S8 => 2,
        DType::S16 => 3,
        DType::S32 => 4,
        DType::S64 => 5,
        DType::U8 => 6,
        DType::U16 => 7,
        DType::U32 => 8,
        DType::U64 => 9,
        DType::F16 => 10,
        DType::F32 => 11,
        DType::F64 => 12,
        DType::Bf16 => 16,
    }
}

/// The [`DType`] with this number, if it is one.
pub fn dtype(element_type: i32) -> Option<DType> {
    DType::ALL.into_iter().find(|dtype| self::element_type(*dtype) == element_type)
}

/// The name of an element type in HLO text; `None` for numbers that the schema does not define.
pub fn element_name(element_type: i32) -> Option<&'static str> {
    let foreign = || FOREIGN.iter().find(|(number, _)| *number == element_type).map(|(_, name)| *name);
    dtype(element_type).map(DType::name).or_else(foreign)
}

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
                tuple_shapes: items.iter().map(Type::to_proto).collect(),
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
            return proto.tuple_shapes.iter().map(Type::from_proto).collect::<Result<_>>().map(Type::Tuple);
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
        element_type: element_type(array.dtype),
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
    let Some(dtype) = dtype(proto.element_type) else {
        let message = match element_name(proto.element_type) {
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
