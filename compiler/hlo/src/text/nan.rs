//! The bits of floats that are no number.

use halite_tensor::DType;

/// The bits of infinity: all of the exponent.
pub(super) fn infinity(dtype: DType) -> u64 {
    let mantissa = mantissa(dtype);
    ((1 << (dtype.bits() - 1)) - 1) >> mantissa << mantissa
}

/// The first bit of the mantissa, which a quiet NaN has, and most have no other.
pub(super) fn quiet(dtype: DType) -> u64 {
    1 << (mantissa(dtype) - 1)
}

fn mantissa(dtype: DType) -> u32 {
    dtype.significand_bits().unwrap_or(2) - 1
}
