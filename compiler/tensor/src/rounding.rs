//! Exact rounding from `f64` to every float type, to nearest even. Beside it, [`stochastic`] rounding and its
//! [`random_bits`].
//!
//! A value that went through `f32` first could be rounded twice. Here the step to `f32` rounds to odd, which keeps the
//! sticky bit, so that the second step is exact (Boldo and Melquiond, "When double rounding is odd", 2005: correct when
//! the intermediate format has at least two bits more than the final one; 24 against 8 and 11).

mod random_bits;
mod stochastic;

pub use random_bits::{ELEMENT_ROUNDS, MAX_COORDINATE, MIX_OFFSET, MIX_ROUNDS, Round, mix, random_bits, stream_key};
pub use stochastic::stochastic;

use crate::DType;
use half::{bf16, f16};

/// The value of `dtype` nearest to `value`, ties to even; overflow gives infinity, NaN stays NaN.
/// Types that are not floats return `value` unchanged.
pub fn round_to(dtype: DType, value: f64) -> f64 {
    match dtype {
        DType::Bf16 => to_bf16(value).to_f64(),
        DType::F16 => to_f16(value).to_f64(),
        DType::F32 => f64::from(value as f32),
        _ => value,
    }
}

/// The value that a program computes with where it is given `value` as a number of `dtype`: the value [nearest](round_to) to it, and 0
/// in place of one below the smallest normal number of the engine, which XLA's CPU backend and accelerators flush. Engines compute in
/// `f32` what is stored in `bf16` or `f16`.
pub fn as_computed(dtype: DType, value: f64) -> f64 {
    let rounded = round_to(dtype, value);
    let smallest = match dtype {
        DType::F64 => f64::MIN_POSITIVE,
        DType::Bf16 | DType::F16 | DType::F32 => f64::from(f32::MIN_POSITIVE),
        _ => 0.0,
    };
    if rounded.abs() < smallest { 0.0 } else { rounded }
}

/// Returns `0` or `infinite` where a finite number turns into that [in a program](as_computed) of this type without being that.
pub fn turns_into(dtype: DType, value: f64) -> Option<&'static str> {
    let computed = as_computed(dtype, value);
    match value.is_finite() {
        true if !computed.is_finite() => Some("infinite"),
        true if computed == 0.0 && value != 0.0 => Some("0"),
        _ => None,
    }
}

/// The nearest `bf16`, ties to even, with a single rounding.
pub fn to_bf16(value: f64) -> bf16 {
    bf16::from_f32(to_odd_f32(value))
}

/// The nearest `f16`, ties to even, with a single rounding.
pub fn to_f16(value: f64) -> f16 {
    f16::from_f32(to_odd_f32(value))
}

/// `value` rounded to odd: truncated, with the last bit set when anything was cut off.
fn to_odd_f32(value: f64) -> f32 {
    let nearest = value as f32;
    if !value.is_finite() || f64::from(nearest) == value {
        return nearest;
    }
    let magnitude = value.abs();
    let mut bits = nearest.abs().to_bits();
    if f64::from(nearest.abs()) > magnitude {
        bits -= 1;
    }
    f32::from_bits(bits | 1).copysign(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_a_type_cannot_hold_turn_into_others() {
        for (dtype, value, turned) in [
            (DType::F32, 1e-50, Some("0")),
            (DType::F32, 1e-40, Some("0")),
            (DType::F32, 1e-37, None),
            (DType::F32, -1e39, Some("infinite")),
            (DType::F64, 1e-50, None),
            (DType::F64, 1e-310, Some("0")),
            (DType::Bf16, 1e-37, None),
            (DType::Bf16, 3.4e38, Some("infinite")),
            (DType::F16, 1e-8, Some("0")),
            (DType::F16, 1e-7, None),
            (DType::F16, 7e4, Some("infinite")),
            (DType::F32, 0.0, None),
            (DType::F32, f64::INFINITY, None),
        ] {
            assert_eq!(turns_into(dtype, value), turned, "{value} in {dtype}");
        }
    }

    /// Neighbours of every narrow value: the midpoint goes to even, anything beside it to the nearer one.
    fn check_all(dtype: DType, count: u16, decode: fn(u16) -> f64) {
        for bits in 0..count {
            let (low, high) = (decode(bits), decode(bits + 1));
            let (exact_high, middle) = if high.is_finite() {
                (high, (low + high) / 2.0)
            } else {
                let step = low - decode(bits - 1);
                (f64::INFINITY, low + step / 2.0)
            };
            let even = if bits % 2 == 0 { low } else { exact_high };
            assert_eq!(round_to(dtype, low), low);
            assert_eq!(round_to(dtype, middle), even, "middle of {low} and {high}");
            assert_eq!(round_to(dtype, -middle), -even);
            assert_eq!(round_to(dtype, middle.next_down()), low);
            assert_eq!(round_to(dtype, middle.next_up()), exact_high);
        }
    }

    #[test]
    fn every_bf16_midpoint_rounds_to_even_and_its_neighbours_do_not() {
        check_all(DType::Bf16, 0x7f80, |bits| bf16::from_bits(bits).to_f64());
    }

    #[test]
    fn every_f16_midpoint_rounds_to_even_and_its_neighbours_do_not() {
        check_all(DType::F16, 0x7c00, |bits| f16::from_bits(bits).to_f64());
    }

    #[test]
    fn special_values_survive() {
        for dtype in [DType::Bf16, DType::F16, DType::F32, DType::F64] {
            assert!(round_to(dtype, f64::NAN).is_nan());
            assert_eq!(round_to(dtype, f64::NEG_INFINITY), f64::NEG_INFINITY);
            assert!(round_to(dtype, -0.0).is_sign_negative());
        }
        assert_eq!(round_to(DType::F16, 1e300), f64::INFINITY);
        assert_eq!(round_to(DType::Bf16, 1e-300), 0.0);
    }
}
