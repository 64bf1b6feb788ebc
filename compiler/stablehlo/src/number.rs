//! Elements of constants, written so that they are read back bit for bit.

use halite_tensor::{DType, HostTensor};
use std::fmt::Write;

/// The elements of a tensor in order.
pub(crate) fn elements(tensor: &HostTensor) -> Vec<String> {
    match tensor.dtype() {
        DType::Pred => tensor.bytes().iter().map(|byte| (*byte != 0).to_string()).collect(),
        dtype if dtype.is_float() => {
            let bits = tensor.bytes().chunks(dtype.size());
            tensor.f64s().into_iter().zip(bits).map(|(value, bits)| float(value, bits, dtype)).collect()
        }
        _ => tensor.ints().iter().map(ToString::to_string).collect(),
    }
}

/// A float; infinities and NaN by their bits, which MLIR takes in hexadecimal.
fn float(value: f64, bits: &[u8], dtype: DType) -> String {
    if value.is_finite() {
        return decimal(value, dtype);
    }
    bits.iter().rev().fold(String::from("0x"), |mut text, byte| {
        write!(text, "{byte:02X}").expect("writing to a string succeeds");
        text
    })
}

/// A finite float. MLIR reads decimals as `f64` and rounds then, so that a short text is taken only where this gives the value.
fn decimal(value: f64, dtype: DType) -> String {
    let short = format!("{:?}", value as f32);
    let is_read_back = short.parse::<f64>().is_ok_and(|read| f64::from(read as f32) == value);
    let text = if dtype != DType::F64 && is_read_back { short } else { format!("{value:?}") };
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(dtype: DType, values: &[f64]) -> Vec<String> {
        elements(&HostTensor::from_f64s(dtype, [values.len()], values.iter().copied()))
    }

    #[test]
    fn floats_are_short_and_exact() {
        let values = [0.1, -0.0, 1e-7, 16_777_217.0, f64::INFINITY, f64::NAN, 1e-45];
        let expected = ["0.1", "-0.0", "1.0e-7", "16777216.0", "0x7F800000", "0x7FC00000", "1.0e-45"];
        assert_eq!(texts(DType::F32, &values), expected);
        assert_eq!(texts(DType::Bf16, &[0.1, -f64::INFINITY]), ["0.100097656", "0xFF80"]);
        assert_eq!(texts(DType::F64, &[0.1, 1e300, f64::INFINITY]), ["0.1", "1.0e300", "0x7FF0000000000000"]);
    }

    #[test]
    fn integers_and_truth_are_words() {
        assert_eq!(texts(DType::Pred, &[0.0, 1.0]), ["false", "true"]);
        let most = HostTensor::from_ints(DType::U64, [1], [i128::from(u64::MAX)]);
        assert_eq!(elements(&most), ["18446744073709551615"]);
    }
}
