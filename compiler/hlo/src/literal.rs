//! Constants: host tensors as literals.

use crate::proto::{LiteralProto, ShapeProto};
use crate::types::{ArrayType, Type};
use halite_tensor::{DType, HostTensor, Indices, Shape};
use std::ops::Range;

impl LiteralProto {
    /// The message form of a tensor.
    pub fn of(tensor: &HostTensor) -> Self {
        let shape = Some(Type::Array(ArrayType::new(tensor.dtype(), tensor.shape().clone())).to_proto().into());
        let bytes = tensor.bytes();
        let mut literal = Self { shape, ..Self::default() };
        match tensor.dtype() {
            DType::Pred => literal.preds = bytes.iter().map(|byte| *byte != 0).collect(),
            DType::S8 => literal.s8s = bytes.to_vec(),
            DType::U8 => literal.u8s = bytes.to_vec(),
            DType::S16 => literal.s16s = bytes.to_vec(),
            DType::U16 => literal.u16s = bytes.to_vec(),
            DType::F16 => literal.f16s = bytes.to_vec(),
            DType::Bf16 => literal.bf16s = bytes.to_vec(),
            DType::S32 => literal.s32s = numbers(bytes, i32::from_le_bytes),
            DType::U32 => literal.u32s = numbers(bytes, u32::from_le_bytes),
            DType::F32 => literal.f32s = numbers(bytes, f32::from_le_bytes),
            DType::S64 => literal.s64s = numbers(bytes, i64::from_le_bytes),
            DType::U64 => literal.u64s = numbers(bytes, u64::from_le_bytes),
            DType::F64 => literal.f64s = numbers(bytes, f64::from_le_bytes),
        }
        literal
    }

    /// The tensor of which it is the message form; `None` of tuples, of types that we lack, and where elements are missing.
    pub fn tensor(&self) -> Option<HostTensor> {
        let Ok(Type::Array(ArrayType { dtype, shape })) = Type::from_proto(self.shape.as_ref()?) else { return None };
        let bytes = bytes(self, dtype);
        match self.shape.as_ref().and_then(|shape| strides(shape, dtype.size())) {
            Some(strides) if bytes.len() == shape.num_bytes(dtype)? => {
                let elements = in_order(&shape, &strides, dtype.size());
                let ordered = elements.filter_map(|element| bytes.get(element)).flatten().copied().collect();
                HostTensor::from_bytes(dtype, shape, ordered).ok()
            }
            _ => HostTensor::from_bytes(dtype, shape, bytes).ok(),
        }
    }

    /// The message form of a tensor with the layout that a shape of its type has, which is a permutation of its dimensions.
    pub(crate) fn laid(tensor: &HostTensor, shape: &ShapeProto) -> Self {
        let (dtype, size) = (tensor.dtype(), tensor.dtype().size());
        let mut literal = match strides(shape, size) {
            None => Self::of(tensor),
            Some(strides) => {
                let mut bytes = vec![0; tensor.bytes().len()];
                let elements = in_order(tensor.shape(), &strides, size).zip(tensor.bytes().chunks_exact(size));
                elements.for_each(|(place, element)| bytes[place].copy_from_slice(element));
                let laid = HostTensor::from_bytes(dtype, tensor.shape().clone(), bytes);
                Self::of(&laid.expect("it has as many bytes as before"))
            }
        };
        literal.shape = Some(shape.clone().into());
        literal
    }
}

/// The bytes between neighbours along each dimension, as a layout has them; `None` where that is row-major, or none.
fn strides(shape: &ShapeProto, size: usize) -> Option<Vec<usize>> {
    let order = &shape.layout.as_ref()?.minor_to_major;
    if order.is_sorted_by(|one, next| one > next) {
        return None;
    }
    let mut strides = vec![0; shape.dimensions.len()];
    let mut stride = size;
    for &dim in order {
        let dim = usize::try_from(dim).ok()?;
        *strides.get_mut(dim)? = stride;
        stride = stride.checked_mul(usize::try_from(*shape.dimensions.get(dim)?).ok()?)?;
    }
    // Each dimension stands once.
    (order.len() == strides.len() && !strides.contains(&0)).then_some(strides)
}

/// The bytes of each element in memory, in row-major order.
fn in_order(shape: &Shape, strides: &[usize], size: usize) -> impl Iterator<Item = Range<usize>> {
    Indices::new(shape).map(move |index| {
        let start: usize = index.iter().zip(strides).map(|(at, stride)| at * stride).sum();
        start..start + size
    })
}

/// The little-endian bytes of the field that belongs to `dtype`.
pub(crate) fn bytes(literal: &LiteralProto, dtype: DType) -> Vec<u8> {
    match dtype {
        DType::Pred => literal.preds.iter().map(|value| u8::from(*value)).collect(),
        DType::S8 => literal.s8s.clone(),
        DType::U8 => literal.u8s.clone(),
        DType::S16 => literal.s16s.clone(),
        DType::U16 => literal.u16s.clone(),
        DType::F16 => literal.f16s.clone(),
        DType::Bf16 => literal.bf16s.clone(),
        DType::S32 => literal.s32s.iter().flat_map(|value| value.to_le_bytes()).collect(),
        DType::U32 => literal.u32s.iter().flat_map(|value| value.to_le_bytes()).collect(),
        DType::F32 => literal.f32s.iter().flat_map(|value| value.to_le_bytes()).collect(),
        DType::S64 => literal.s64s.iter().flat_map(|value| value.to_le_bytes()).collect(),
        DType::U64 => literal.u64s.iter().flat_map(|value| value.to_le_bytes()).collect(),
        DType::F64 => literal.f64s.iter().flat_map(|value| value.to_le_bytes()).collect(),
    }
}

/// Number of elements in the field that belongs to `dtype`; `None` when bytes are left over.
pub(crate) fn len(literal: &LiteralProto, dtype: DType) -> Option<usize> {
    let halves = |bytes: &[u8]| bytes.len().is_multiple_of(2).then_some(bytes.len() / 2);
    match dtype {
        DType::Pred => Some(literal.preds.len()),
        DType::S8 => Some(literal.s8s.len()),
        DType::U8 => Some(literal.u8s.len()),
        DType::S16 => halves(&literal.s16s),
        DType::U16 => halves(&literal.u16s),
        DType::F16 => halves(&literal.f16s),
        DType::Bf16 => halves(&literal.bf16s),
        DType::S32 => Some(literal.s32s.len()),
        DType::U32 => Some(literal.u32s.len()),
        DType::F32 => Some(literal.f32s.len()),
        DType::S64 => Some(literal.s64s.len()),
        DType::U64 => Some(literal.u64s.len()),
        DType::F64 => Some(literal.f64s.len()),
    }
}

fn numbers<T, const N: usize>(bytes: &[u8], decode: fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|bytes| decode(*bytes)).collect()
}
