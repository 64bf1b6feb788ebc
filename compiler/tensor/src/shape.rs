//! Static shapes.

use crate::DType;
use smallvec::SmallVec;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// A list of dimension numbers or sizes, inline up to rank 6.
pub type Dims = SmallVec<[usize; 4]>;

/// The sizes of a tensor's dimensions, outermost first. Rank 0 is a scalar; a size may be 0.
#[derive(PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Shape(Dims);

/// Shapes are cloned with every type; the derived code copies size by size.
impl Clone for Shape {
    fn clone(&self) -> Self {
        Self(SmallVec::from_slice(&self.0))
    }
}

impl Shape {
    /// The shape of a scalar.
    pub fn scalar() -> Self {
        Self::default()
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// Product of all sizes; 1 for a scalar, `usize::MAX` where it is more than that.
    pub fn num_elements(&self) -> usize {
        self.0.iter().fold(1, |product: usize, size| product.saturating_mul(*size))
    }

    /// Bytes of a dense array of these sizes; `None` where no memory can hold it. Sizes of 0 do not make the others
    /// possible.
    pub fn num_bytes(&self, dtype: DType) -> Option<usize> {
        let largest = self.0.iter().try_fold(dtype.size(), |bytes, size| bytes.checked_mul((*size).max(1)))?;
        let is_empty = self.0.contains(&0);
        isize::try_from(largest).is_ok().then_some(if is_empty { 0 } else { largest })
    }

    /// Distance in elements between neighbours along each dimension, row-major.
    pub fn strides(&self) -> Dims {
        let mut strides: Dims = SmallVec::from_elem(1, self.rank());
        for dim in (1..self.rank()).rev() {
            strides[dim - 1] = strides[dim] * self.0[dim];
        }
        strides
    }

    /// The sizes as a growable list.
    pub fn into_dims(self) -> Dims {
        self.0
    }
}

impl Deref for Shape {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl DerefMut for Shape {
    fn deref_mut(&mut self) -> &mut [usize] {
        &mut self.0
    }
}

impl From<Dims> for Shape {
    fn from(dims: Dims) -> Self {
        Self(dims)
    }
}

impl From<&[usize]> for Shape {
    fn from(dims: &[usize]) -> Self {
        Self(SmallVec::from_slice(dims))
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    fn from(dims: [usize; N]) -> Self {
        Self(SmallVec::from_slice(&dims))
    }
}

impl FromIterator<usize> for Shape {
    fn from_iter<I: IntoIterator<Item = usize>>(sizes: I) -> Self {
        Self(sizes.into_iter().collect())
    }
}

impl fmt::Display for Shape {
    /// `[4,8]`; `[]` for a scalar.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (index, size) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            write!(f, "{size}")?;
        }
        f.write_str("]")
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_no_memory_holds_are_found() {
        let bytes = |sizes: &[usize]| Shape::from(sizes).num_bytes(DType::F32);
        assert_eq!((bytes(&[]), bytes(&[2, 3]), bytes(&[2, 0])), (Some(4), Some(24), Some(0)));
        assert_eq!((bytes(&[1 << 60]), bytes(&[1 << 61])), (Some(1 << 62), None));
        assert_eq!((bytes(&[1 << 32, 1 << 32]), bytes(&[0, 1 << 32, 1 << 32])), (None, None));
        assert_eq!(Shape::from([1 << 32, 1 << 32]).num_elements(), usize::MAX);
    }
}
