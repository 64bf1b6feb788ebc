//! Walking a shape in row-major order.

use crate::{Dims, Shape};
use smallvec::SmallVec;

/// All multi-indices of a shape, last dimension fastest.
#[derive(Clone, Debug)]
pub struct Indices {
    shape: Dims,
    next: Option<Dims>,
}

impl Indices {
    /// The indices of `shape`; one empty index for a scalar, none when a size is 0.
    pub fn new(shape: &Shape) -> Self {
        let next = (shape.num_elements() > 0).then(|| SmallVec::from_elem(0, shape.rank()));
        Self { shape: SmallVec::from_slice(shape), next }
    }
}

impl Iterator for Indices {
    type Item = Dims;

    fn next(&mut self) -> Option<Dims> {
        let current = self.next.take()?;
        let mut following = current.clone();
        for dim in (0..self.shape.len()).rev() {
            following[dim] += 1;
            if following[dim] < self.shape[dim] {
                self.next = Some(following);
                break;
            }
            following[dim] = 0;
        }
        Some(current)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_row_major() {
        let all: Vec<_> = Indices::new(&[2, 2].into()).map(|index| index.to_vec()).collect();
        assert_eq!(all, [[0, 0], [0, 1], [1, 0], [1, 1]]);
        assert_eq!(Indices::new(&Shape::scalar()).count(), 1);
        assert_eq!(Indices::new(&[3, 0].into()).count(), 0);
    }
}
