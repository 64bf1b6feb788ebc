//! Element types and sizes.

use super::{Case, array, case, matrix, reshaped, single};
use halite_hlo::proto::HloModuleProto;
use halite_support::Result;
use halite_tensor::{DType, HostTensor, Shape};

pub(super) const CASES: &[Case] = &[
    case("element-type", || doubled(DType::F64), || doubled(DType::F32)),
    case("element-type", || retyped(20), || retyped(19)),
    case("partial-element-type", || retyped(15), || doubled(DType::Bf16)),
    case("wide-integer", || counted(DType::S64), || counted(DType::S32)),
    case("wide-constant", || constant(DType::U64, 1 << 40), || constant(DType::U32, 1 << 20)),
    case("dynamic-shape", dynamic, || doubled(DType::F16)),
];

fn doubled(dtype: DType) -> Result<HloModuleProto> {
    single(array(dtype, [4, 8]), |b, x| b.add(x, x))
}

/// The number is that of an element type which the builder does not have.
fn retyped(number: i32) -> Result<HloModuleProto> {
    reshaped(doubled(DType::F16), |shape| {
        if shape.element_type == halite_tensor::element_type::number(DType::F16) {
            shape.element_type = number;
        }
    })
}

fn counted(dtype: DType) -> Result<HloModuleProto> {
    single(array(DType::Pred, [4, 8]), |b, x| {
        let positions = b.iota(array(dtype, [4, 8]), 1)?;
        b.select(x, positions, positions)
    })
}

fn constant(dtype: DType, value: i128) -> Result<HloModuleProto> {
    single(array(dtype, []), |b, x| {
        let value = b.constant(&HostTensor::from_ints(dtype, Shape::scalar(), [value]))?;
        b.and(x, value)
    })
}

fn dynamic() -> Result<HloModuleProto> {
    reshaped(single(matrix(), |b, x| b.tanh(x)), |shape| {
        if let Some(first) = shape.is_dynamic_dimension.first_mut() {
            *first = true;
        }
    })
}
