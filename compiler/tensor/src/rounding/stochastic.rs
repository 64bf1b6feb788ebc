//! Stochastic rounding from `f32` to `bf16` and `f16`: the meaning of the composite `stochastic_convert`.

use crate::DType;

/// `x` rounded to one of its two neighbours in `to`, away from zero with the probability of its distance from the
/// neighbour nearer to zero, when `bits` is uniform. So the mean over all `bits` is `x`.
///
/// - A value of `to` stays what it is, zeros of both signs and infinities included; NaN stays NaN.
/// - Beyond the largest finite value the exponent range counts as extended: a number between it and the next power of
///   two rounds to it or to infinity, a larger one to infinity.
/// - Subnormals of `to` are neighbours like any others.
/// - The upper 16 bits of `bits` decide for `bf16`, the upper 23 for `f16`. The distance is cut to as many binary
///   digits, which drops nothing for `bf16` and for normal `f16`, and less than 2^-23 of the gap for subnormal `f16`.
///
/// Types other than `bf16` and `f16` return `x` unchanged.
pub fn stochastic(x: f32, bits: u32, to: DType) -> f32 {
    let Some((grid, max)) = Grid::of(to).zip(to.max_finite()) else { return x };
    if !x.is_finite() {
        return x;
    }
    let magnitude = f64::from(x.abs());
    let spacing = grid.spacing(magnitude);
    let (below, fraction) = ((magnitude / spacing).floor(), (magnitude / spacing).fract());
    let steps = f64::from(1u32 << grid.random_bits);
    let random = f64::from(bits >> (u32::BITS - grid.random_bits));
    let away = (fraction * steps).floor() + random >= steps;
    let rounded = (below + f64::from(u8::from(away))) * spacing;
    let rounded = if rounded > max { f32::INFINITY } else { rounded as f32 };
    rounded.copysign(x)
}

/// The finite values of a narrow type.
struct Grid {
    significand_bits: i32,
    /// The exponent of the smallest normal value, and of all subnormals.
    min_exponent: i32,
    /// The number of random bits that decide: the bits that `f32` has more than `bf16`; those of the `f32` between 1 and 2 for `f16`,
    /// whose subnormals need more than the 13 of its normal values.
    random_bits: u32,
}

impl Grid {
    fn of(dtype: DType) -> Option<Self> {
        match dtype {
            DType::Bf16 => Some(Self { significand_bits: 8, min_exponent: -126, random_bits: 16 }),
            DType::F16 => Some(Self { significand_bits: 11, min_exponent: -14, random_bits: 23 }),
            _ => None,
        }
    }

    /// The gap between the neighbours of `magnitude`, a power of two.
    fn spacing(&self, magnitude: f64) -> f64 {
        let exponent = biased_exponent(magnitude) - biased_exponent(1.0);
        2f64.powi(exponent.max(self.min_exponent) - (self.significand_bits - 1))
    }
}

/// The exponent field of a number that is not negative.
fn biased_exponent(x: f64) -> i32 {
    (x.to_bits() >> 52) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounding::random_bits;
    use half::{bf16, f16};

    const NARROW: [DType; 2] = [DType::Bf16, DType::F16];
    const EXTREMES: [u32; 5] = [0, 1, 0x8000_0000, 0x5555_5555, u32::MAX];

    fn decode(dtype: DType, bits: u16) -> f32 {
        if dtype == DType::Bf16 { bf16::from_bits(bits).to_f32() } else { f16::from_bits(bits).to_f32() }
    }

    #[test]
    fn every_value_of_the_type_stays() {
        for dtype in NARROW {
            for value in (0..=u16::MAX).map(|bits| decode(dtype, bits)) {
                for bits in EXTREMES {
                    let rounded = stochastic(value, bits, dtype);
                    assert!(rounded.to_bits() == value.to_bits(), "{value:e} in {dtype} became {rounded:e}");
                }
            }
        }
    }

    #[test]
    fn the_share_of_the_random_numbers_is_the_distance() {
        let (low, gap) = (1.0f32, f32::EPSILON * 65536.0);
        for quarter in [1u32, 2, 3] {
            let x = low + gap * quarter as f32 / 4.0;
            let away = (0..65536u32).filter(|&random| stochastic(x, random << 16, DType::Bf16) > x).count();
            assert_eq!(away, 16384 * quarter as usize);
        }
        // The largest random number reaches any distance of one unit, the smallest none.
        assert_eq!(stochastic(1.0f32.next_up(), u32::MAX, DType::Bf16), low + gap);
        assert_eq!(stochastic((low + gap).next_down(), 0, DType::Bf16), low);
    }

    #[test]
    fn values_beyond_the_largest_become_it_or_infinite() {
        for (dtype, power) in [(DType::Bf16, f32::INFINITY), (DType::F16, 65536.0)] {
            let max = dtype.max_finite().expect("a float") as f32;
            let x = if power.is_finite() { (max + power) / 2.0 } else { f32::MAX };
            assert_eq!(stochastic(x, 0, dtype), max);
            assert_eq!(stochastic(-x, u32::MAX, dtype), f32::NEG_INFINITY);
            for bits in EXTREMES {
                assert_eq!(stochastic(f32::NEG_INFINITY, bits, dtype), f32::NEG_INFINITY);
                assert!(stochastic(f32::from_bits(0xff80_0001), bits, dtype).is_nan());
            }
        }
        assert_eq!(stochastic(1e6, 0, DType::F16), f32::INFINITY);
    }

    #[test]
    fn means_are_unbiased() {
        let cases = [
            (DType::Bf16, 1.0 + 1.0 / 3.0e3),
            (DType::Bf16, -0.3),
            (DType::Bf16, f32::from_bits(0x0000_1234)),
            (DType::F16, 3.3),
            (DType::F16, 1024.25),
            (DType::F16, -3.3e-5),
            (DType::F16, 1e-8),
        ];
        for (key, (dtype, x)) in (0..).zip(cases) {
            let rounded = (0..100_000).map(|at| f64::from(stochastic(x, random_bits(key, 1, &[at]), dtype)));
            assert_unbiased(f64::from(x), dtype, rounded);
        }
    }

    /// The mean of 0/1 choices between two neighbours within four standard errors.
    fn assert_unbiased(x: f64, dtype: DType, rounded: impl ExactSizeIterator<Item = f64>) {
        let count = rounded.len() as f64;
        let gap = Grid::of(dtype).expect("a narrow type").spacing(x.abs());
        let share = (x.abs() / gap).fract();
        let mean = rounded.sum::<f64>() / count;
        let error = 4.0 * gap * (share * (1.0 - share) / count).sqrt();
        assert!((mean - x).abs() <= error, "{x:e} in {dtype}: mean {mean:e}, allowed {error:e}");
    }

    #[test]
    fn small_terms_are_not_lost() {
        let step = |sum: f32, at| stochastic(sum + 0.5, random_bits(7, 3, &[at]), DType::F16);
        let sum = (0..2048).fold(1024.0, step);
        assert!((sum - 2048.0).abs() <= 0.05 * 2048.0, "{sum}");
        let nearest = (0..2048).fold(1024.0, |sum, _| crate::rounding::round_to(DType::F16, sum + 0.5));
        assert_eq!(nearest, 1024.0);
    }
}
