//! Seeded numbers and numeric derivatives.

use halite_ir::{SampleArg, sample_inputs};
use halite_support::Result;
use halite_tensor::{DType, HostTensor, Shape};

/// A tensor of uniform reals between the bounds, the same for the same seed.
pub fn uniform(dtype: DType, shape: impl Into<Shape>, low: f64, high: f64, seed: u64) -> HostTensor {
    drawn(SampleArg::uniform(dtype, shape, low, high), seed)
}

/// A tensor with the elements that a sample operand describes.
pub fn drawn(arg: SampleArg, seed: u64) -> HostTensor {
    let sample = halite_ir::Sample::new("drawn", halite_ir::ops::Negate, [arg]);
    sample_inputs(&sample, seed).swap_remove(0).swap_remove(0)
}

/// The derivatives of `f` by each element of `at`, from four points with an error of the fourth order in the step.
///
/// # Errors
/// An error of `f`.
pub fn central_differences(at: &HostTensor, f: impl Fn(HostTensor) -> Result<f64>) -> Result<Vec<f64>> {
    let values = at.f64s();
    let derivative = |index: usize| -> Result<f64> {
        let step = 1e-4 * values[index].abs().max(0.1);
        let moved = |steps: f64| {
            let mut values = values.clone();
            values[index] += steps * step;
            f(HostTensor::from_f64s(at.dtype(), at.shape().clone(), values))
        };
        let (near, far) = (moved(1.0)? - moved(-1.0)?, moved(2.0)? - moved(-2.0)?);
        Ok((8.0 * near - far) / (12.0 * step))
    };
    (0..values.len()).map(derivative).collect()
}

/// Seeded random numbers: SplitMix64 of Steele, Lea and Flood (2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    /// A number in `0..count`, up to a bias that does not matter here.
    ///
    /// # Panics
    /// When `count` is 0.
    pub fn below(&mut self, count: usize) -> usize {
        (self.bits() % count as u64) as usize
    }

    /// Whether a coin shows heads.
    pub fn coin(&mut self) -> bool {
        self.below(2) == 0
    }
}
