//! Comparing tensors with a tolerance.

use crate::HostTensor;

/// The distance of two tensors.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct Difference {
    /// Largest `|a - b|`; infinite when one is NaN or infinite and the other is not the same.
    pub max_abs: f64,
    /// Largest `|b|` over finite elements.
    pub scale: f64,
    /// Position of the largest difference.
    pub at: usize,
}

impl Difference {
    /// `max_abs / scale`: the error norm-wise. With a scale of 0 it is 0 for equal tensors and infinite otherwise.
    pub fn relative(&self) -> f64 {
        if self.max_abs == 0.0 { 0.0 } else { self.max_abs / self.scale }
    }
}

/// The difference of `a` from the reference `b`. Equal infinities and pairs of NaN count as equal.
///
/// # Panics
/// When the numbers of elements differ.
pub fn difference(a: &HostTensor, b: &HostTensor) -> Difference {
    assert_eq!(a.len(), b.len(), "compared tensors have equal sizes");
    let mut result = Difference::default();
    for (index, (a, b)) in a.f64s().into_iter().zip(b.f64s()).enumerate() {
        if b.is_finite() {
            result.scale = result.scale.max(b.abs());
        }
        let same = a == b || (a.is_nan() && b.is_nan());
        let distance = match (a - b).abs() {
            _ if same => 0.0,
            distance if distance.is_nan() => f64::INFINITY,
            distance => distance,
        };
        if distance > result.max_abs {
            (result.max_abs, result.at) = (distance, index);
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;

    #[test]
    fn nan_equals_only_nan() {
        let tensor = |values: [f64; 2]| HostTensor::from_f64s(DType::F64, [2], values);
        let nan = f64::NAN;
        assert_eq!(difference(&tensor([nan, 1.0]), &tensor([nan, 1.0])).max_abs, 0.0);
        assert_eq!(difference(&tensor([nan, 1.0]), &tensor([0.0, 1.0])).max_abs, f64::INFINITY);
        let apart = difference(&tensor([1.0, 2.5]), &tensor([1.0, 2.0]));
        assert_eq!((apart.max_abs, apart.scale, apart.at, apart.relative()), (0.5, 2.0, 1, 0.25));
    }
}
