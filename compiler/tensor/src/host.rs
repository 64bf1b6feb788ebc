//! Dense host tensors.

use crate::{DType, Shape, rounding};
use half::{bf16, f16};
use halite_support::{Diagnostic, Diagnostics, codes};
use std::fmt;

/// A dense row-major tensor in host memory, stored as little-endian bytes of its element type (`pred`: 0 or 1).
///
/// Equality and hashing are those of the bits, so constants can be shared by value.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct HostTensor {
    dtype: DType,
    shape: Shape,
    bytes: Vec<u8>,
}

/// The number of bytes given is not that of the shape and element type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SizeMismatch {
    /// Bytes the type needs; `usize::MAX` where no memory can hold them.
    pub expected: usize,
    /// Bytes given.
    pub found: usize,
}

impl fmt::Display for SizeMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self { expected: usize::MAX, .. } => f.write_str("no memory can hold a tensor of this shape"),
            Self { expected, found } => {
                write!(f, "the values of a tensor have {found} bytes, its shape takes {expected}")
            }
        }
    }
}

impl std::error::Error for SizeMismatch {}

impl From<SizeMismatch> for Diagnostic {
    fn from(error: SizeMismatch) -> Self {
        Diagnostic::error(codes::SHAPE, error.to_string())
    }
}

impl From<SizeMismatch> for Diagnostics {
    fn from(error: SizeMismatch) -> Self {
        Diagnostic::from(error).into()
    }
}

impl HostTensor {
    /// A tensor from its bytes.
    ///
    /// # Errors
    /// When the length is not [`shape.num_bytes(dtype)`](Shape::num_bytes).
    pub fn from_bytes(dtype: DType, shape: Shape, bytes: Vec<u8>) -> Result<Self, SizeMismatch> {
        let expected = shape.num_bytes(dtype).unwrap_or(usize::MAX);
        if bytes.len() != expected {
            return Err(SizeMismatch { expected, found: bytes.len() });
        }
        Ok(Self { dtype, shape, bytes })
    }

    /// A tensor of zeros.
    ///
    /// # Panics
    /// When no memory can hold it.
    pub fn zeros(dtype: DType, shape: impl Into<Shape>) -> Self {
        let shape = shape.into();
        let bytes = vec![0; shape.num_bytes(dtype).expect("memory can hold the shape")];
        Self { dtype, shape, bytes }
    }

    /// A tensor from real numbers, each rounded once to nearest even. Integer types take the truncated value and
    /// wrap, `pred` takes `value != 0`.
    ///
    /// ```
    /// use halite_tensor::{DType, HostTensor};
    /// let values: &[f32] = &[0.5, -1.0];
    /// let tensor = HostTensor::try_from_f64s(DType::Bf16, [1, 2], values.iter().copied())?;
    /// assert_eq!(tensor.f64s(), [0.5, -1.0]);
    /// # Ok::<(), halite_tensor::SizeMismatch>(())
    /// ```
    ///
    /// # Errors
    /// When the number of values is not that of the shape.
    pub fn try_from_f64s(
        dtype: DType,
        shape: impl Into<Shape>,
        values: impl IntoIterator<Item = impl Into<f64>>,
    ) -> Result<Self, SizeMismatch> {
        let values = values.into_iter().map(Into::into);
        if !dtype.is_float() {
            let whole = |value: f64| if dtype == DType::Pred { i128::from(value != 0.0) } else { value as i128 };
            return Self::from_whole(dtype, shape.into(), values.map(whole));
        }
        let mut bytes = Vec::with_capacity(values.size_hint().0 * dtype.size());
        for value in values {
            match dtype {
                DType::Bf16 => bytes.extend(rounding::to_bf16(value).to_le_bytes()),
                DType::F16 => bytes.extend(rounding::to_f16(value).to_le_bytes()),
                DType::F32 => bytes.extend((value as f32).to_le_bytes()),
                _ => bytes.extend(value.to_le_bytes()),
            }
        }
        Self::from_bytes(dtype, shape.into(), bytes)
    }

    /// A tensor from integers, wrapped to the width of the type. Float types take the rounded value, `pred` takes
    /// `value != 0`.
    ///
    /// ```
    /// use halite_tensor::{DType, HostTensor};
    /// let tokens: Vec<i32> = vec![11, 7, 5, 3];
    /// let batch = HostTensor::try_from_ints(DType::S32, [2, 2], tokens)?;
    /// assert!(HostTensor::try_from_ints(DType::S32, [2, 3], batch.ints()).is_err());
    /// # Ok::<(), halite_tensor::SizeMismatch>(())
    /// ```
    ///
    /// # Errors
    /// When the number of values is not that of the shape.
    pub fn try_from_ints(
        dtype: DType,
        shape: impl Into<Shape>,
        values: impl IntoIterator<Item = impl Into<i128>>,
    ) -> Result<Self, SizeMismatch> {
        let values = values.into_iter().map(Into::into);
        if dtype.is_float() {
            return Self::try_from_f64s(dtype, shape, values.map(|value| value as f64));
        }
        Self::from_whole(dtype, shape.into(), values)
    }

    fn from_whole(dtype: DType, shape: Shape, values: impl Iterator<Item = i128>) -> Result<Self, SizeMismatch> {
        let size = dtype.size();
        let mut bytes = Vec::with_capacity(values.size_hint().0 * size);
        for value in values {
            let value = if dtype == DType::Pred { i128::from(value != 0) } else { value };
            bytes.extend_from_slice(&value.to_le_bytes()[..size]);
        }
        Self::from_bytes(dtype, shape, bytes)
    }

    /// As [`try_from_f64s`](Self::try_from_f64s), for values whose number is known to be right.
    ///
    /// # Panics
    /// When the number of values is not that of the shape.
    pub fn from_f64s(dtype: DType, shape: impl Into<Shape>, values: impl IntoIterator<Item = f64>) -> Self {
        Self::try_from_f64s(dtype, shape, values).expect("as many values as the shape has elements")
    }

    /// As [`try_from_ints`](Self::try_from_ints), for values whose number is known to be right.
    ///
    /// # Panics
    /// When the number of values is not that of the shape.
    pub fn from_ints(dtype: DType, shape: impl Into<Shape>, values: impl IntoIterator<Item = i128>) -> Self {
        Self::try_from_ints(dtype, shape, values).expect("as many values as the shape has elements")
    }

    /// A scalar from a real number.
    pub fn scalar(dtype: DType, value: f64) -> Self {
        Self::from_f64s(dtype, Shape::scalar(), [value])
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Sizes.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.num_elements()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements as little-endian bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The elements as little-endian bytes, without a copy.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The elements as real numbers: exact for floats, integers up to 2^53 and `pred` (0 or 1).
    pub fn f64s(&self) -> Vec<f64> {
        match self.dtype {
            DType::Bf16 => self.elements(|b| bf16::from_le_bytes(b).to_f64()),
            DType::F16 => self.elements(|b| f16::from_le_bytes(b).to_f64()),
            DType::F32 => self.elements(|b| f64::from(f32::from_le_bytes(b))),
            DType::F64 => self.elements(f64::from_le_bytes),
            _ => self.ints().into_iter().map(|value| value as f64).collect(),
        }
    }

    /// The elements as integers: exact for integers and `pred` (0 or 1), truncated towards zero for floats.
    pub fn ints(&self) -> Vec<i128> {
        match self.dtype {
            DType::Pred | DType::U8 => self.elements(|b| i128::from(u8::from_le_bytes(b))),
            DType::S8 => self.elements(|b| i128::from(i8::from_le_bytes(b))),
            DType::S16 => self.elements(|b| i128::from(i16::from_le_bytes(b))),
            DType::U16 => self.elements(|b| i128::from(u16::from_le_bytes(b))),
            DType::S32 => self.elements(|b| i128::from(i32::from_le_bytes(b))),
            DType::U32 => self.elements(|b| i128::from(u32::from_le_bytes(b))),
            DType::S64 => self.elements(|b| i128::from(i64::from_le_bytes(b))),
            DType::U64 => self.elements(|b| i128::from(u64::from_le_bytes(b))),
            _ => self.f64s().into_iter().map(|value| value as i128).collect(),
        }
    }

    /// The same bytes under another shape.
    ///
    /// # Panics
    /// When the number of elements differs, or no memory can hold the shape.
    #[must_use]
    pub fn reshaped(self, shape: impl Into<Shape>) -> Self {
        let shape = shape.into();
        assert_eq!(Some(self.bytes.len()), shape.num_bytes(self.dtype), "a reshape keeps the number of elements");
        Self { shape, ..self }
    }

    /// Puts a tensor behind it along the first dimension.
    ///
    /// # Panics
    /// When they differ in their element types or in their sizes but for the first.
    pub fn append(&mut self, other: &Self) {
        let (own, more) = (&self.shape[..], &other.shape[..]);
        let fits = self.dtype == other.dtype && !own.is_empty() && own.get(1..) == more.get(1..);
        assert!(fits, "rows of {}[{}] behind those of {}[{}]", other.dtype, other.shape, self.dtype, self.shape);
        self.bytes.extend(&other.bytes);
        self.shape[0] += other.shape[0];
    }

    /// The value all elements share bit for bit, as a scalar tensor; `None` when they differ or there is none.
    pub fn splat_value(&self) -> Option<HostTensor> {
        let size = self.dtype.size();
        let first = self.bytes.get(..size)?;
        let equal = self.bytes.chunks_exact(size).all(|element| element == first);
        equal.then(|| HostTensor { dtype: self.dtype, shape: Shape::scalar(), bytes: first.to_vec() })
    }

    fn elements<T, const N: usize>(&self, decode: impl Fn([u8; N]) -> T) -> Vec<T> {
        self.bytes.as_chunks::<N>().0.iter().map(|bytes| decode(*bytes)).collect()
    }
}

impl fmt::Debug for HostTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.dtype, self.shape)?;
        let shown = 16;
        if self.len() > shown {
            return write!(f, " ({} elements)", self.len());
        }
        if self.dtype.is_float() { write!(f, " {:?}", self.f64s()) } else { write!(f, " {:?}", self.ints()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_to_their_width() {
        let tensor = HostTensor::from_ints(DType::S8, [3], [127, 128, -129]);
        assert_eq!(tensor.ints(), [127, -128, 127]);
        assert_eq!(HostTensor::from_ints(DType::U32, [1], [-1]).ints(), [4_294_967_295]);
    }

    #[test]
    fn wrong_sizes_are_refused() {
        let error = HostTensor::from_bytes(DType::F32, [2].into(), vec![0; 7]).unwrap_err();
        assert_eq!(error, SizeMismatch { expected: 8, found: 7 });
        assert_eq!(error.to_string(), "the values of a tensor have 7 bytes, its shape takes 8");
        for shape in [&[1 << 32, 1 << 32][..], &[0, 1 << 32, 1 << 32], &[1 << 63, 0]] {
            let error = HostTensor::from_bytes(DType::F32, shape.into(), vec![]).unwrap_err();
            assert_eq!(error.expected, usize::MAX, "{shape:?}");
            HostTensor::try_from_ints(DType::S32, shape, [1, 2]).unwrap_err();
        }
        HostTensor::try_from_f64s(DType::F32, [3], [1.0, 2.0]).unwrap_err();
        HostTensor::try_from_f64s(DType::S8, [1], [1.0, 2.0]).unwrap_err();
    }

    #[test]
    fn splats_are_bitwise() {
        assert!(HostTensor::from_f64s(DType::F32, [2], [0.0, -0.0]).splat_value().is_none());
        assert_eq!(HostTensor::from_f64s(DType::F32, [2], [3.0, 3.0]).splat_value().unwrap().f64s(), [3.0]);
    }
}
