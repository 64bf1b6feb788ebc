//! Types and tensors of this project as those of the crate, and back.

use super::status;
use crate::{Result, RuntimeError, Status, StatusCode, TensorSpec};
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

/// A literal of any layout as a tensor; copies the elements twice.
///
/// # Errors
/// When the literal is a tuple or has an element type that is not in [`DType`].
pub fn from_literal(literal: &xla::Literal) -> Result<HostTensor> {
    let failed = |error| RuntimeError::Transfer(status(error));
    let spec = spec(&literal.shape().map_err(failed)?).map_err(RuntimeError::Transfer)?;
    // The crate tells no layout, but what it reshapes is row-major.
    let sizes: Vec<i64> = spec.shape.iter().map(|size| *size as i64).collect();
    let row_major = literal.reshape(&sizes).map_err(failed)?;
    let mut bytes = vec![0; spec.size()];
    row_major.copy_untyped_to(&mut bytes).map_err(failed)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_type_has_its_counterpart() {
        for dtype in DType::ALL {
            assert_eq!(element_type(dtype).element_size_in_bytes(), dtype.size(), "{dtype}");
        }
    }

    #[test]
    fn tensors_go_through_literals() {
        for dtype in DType::ALL {
            for sizes in [&[][..], &[0], &[2, 3]] {
                let count: usize = sizes.iter().product();
                let tensor = HostTensor::from_f64s(dtype, sizes, (0..count).map(|index| (index % 2) as f64));
                assert_eq!(from_literal(&to_literal(&tensor).unwrap()).unwrap(), tensor, "{dtype}");
            }
        }
    }

    #[test]
    fn what_is_no_array_is_refused() {
        let tuple = xla::Literal::tuple(vec![xla::Literal::scalar(1.0f32)]);
        assert!(matches!(from_literal(&tuple), Err(RuntimeError::Transfer(_))));
        let complex = xla::Literal::create_from_shape(xla::PrimitiveType::C64, &[2]);
        assert!(matches!(from_literal(&complex), Err(RuntimeError::Transfer(_))));
    }
}
