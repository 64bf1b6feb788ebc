//! Types and tensors of this project as those of the crate, and back.

use super::status;
use halite_runtime::{Result, RuntimeError, Status, StatusCode, TensorSpec};
use halite_tensor::{DType, HostTensor, Shape};

/// A tensor as a literal; copies the elements.
///
/// # Errors
/// When the crate cannot make it.
pub fn to_literal(tensor: &HostTensor) -> Result<xla::Literal> {
    let element_type = element_type(tensor.dtype());
    xla::Literal::create_from_shape_and_untyped_data(element_type, tensor.shape(), tensor.bytes())
        .map_err(|error| RuntimeError::Transfer(status(error)))
}

/// A row-major literal as a tensor; copies the elements.
///
/// # Errors
/// When the literal is a tuple or has an element type that is not in [`DType`].
pub fn from_literal(literal: &xla::Literal) -> Result<HostTensor> {
    let failed = |error| RuntimeError::Transfer(status(error));
    let spec = spec(&literal.shape().map_err(failed)?).map_err(RuntimeError::Transfer)?;
    let mut bytes = vec![0; spec.size()];
    literal.copy_untyped_to(&mut bytes).map_err(failed)?;
    Ok(HostTensor::from_bytes(spec.dtype, spec.shape, bytes).expect("the bytes have the size of the type"))
}

/// The element types, each with the crate's.
const ELEMENT_TYPES: [(DType, xla::ElementType); 13] = [
    (DType::Pred, xla::ElementType::Pred),
    (DType::S8, xla::ElementType::S8),
    (DType::S16, xla::ElementType::S16),
    (DType::S32, xla::ElementType::S32),
    (DType::S64, xla::ElementType::S64),
    (DType::U8, xla::ElementType::U8),
    (DType::U16, xla::ElementType::U16),
    (DType::U32, xla::ElementType::U32),
    (DType::U64, xla::ElementType::U64),
    (DType::F16, xla::ElementType::F16),
    (DType::Bf16, xla::ElementType::Bf16),
    (DType::F32, xla::ElementType::F32),
    (DType::F64, xla::ElementType::F64),
];

pub(super) fn element_type(dtype: DType) -> xla::ElementType {
    let found = ELEMENT_TYPES.iter().find(|(own, _)| *own == dtype);
    found.expect("the table has every element type").1
}

/// Element type and sizes of an array.
pub(super) fn spec(shape: &xla::Shape) -> std::result::Result<TensorSpec, Status> {
    let refused = || Status::new(StatusCode::Unimplemented, format!("{shape:?} is not an array of a known type"));
    let xla::Shape::Array(array) = shape else {
        return Err(refused());
    };
    let known = ELEMENT_TYPES.iter().find(|(_, theirs)| *theirs == array.element_type());
    let sizes: Option<Shape> = array.dims().iter().map(|size| usize::try_from(*size).ok()).collect();
    match (known, sizes) {
        (Some((dtype, _)), Some(shape)) => Ok(TensorSpec { dtype: *dtype, shape }),
        _ => Err(refused()),
    }
}
