//! The causal mask as a host tensor.

use crate::{DType, HostTensor, Indices, Shape};

/// The causal mask `pred[.., size, size]`, repeated along the leading dimensions: true where the position along the last
/// dimension (the key) is at most the one along the dimension before (the query). With fewer than two dimensions every
/// element is true.
pub fn causal_mask(shape: &Shape) -> HostTensor {
    let seen = |index: &[usize]| !matches!(index, [.., query, key] if key > query);
    HostTensor::from_ints(DType::Pred, shape.clone(), Indices::new(shape).map(|index| i128::from(seen(&index))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_dimensions_repeat_the_lower_triangle() {
        let mask = causal_mask(&Shape::from([2, 3, 3]));
        assert_eq!(mask.ints(), [1, 0, 0, 1, 1, 0, 1, 1, 1].repeat(2));
    }
}
