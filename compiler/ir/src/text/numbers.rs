//! Numbers and elements of constants: the shortest text that reads back to the same bits.

use halite_tensor::{DType, HostTensor, Shape};

/// The bits of the NaN that is printed as plain `nan`: positive, quiet, no payload.
fn plain_nan(dtype: DType) -> u64 {
    match dtype {
        DType::Bf16 => 0x7fc0,
        DType::F16 => 0x7e00,
        DType::F32 => 0x7fc0_0000,
        _ => 0x7ff8_0000_0000_0000,
    }
}

/// Prints a real number of type `f64`: always with a point, an exponent or as a word, so that it is not an integer.
pub(super) fn print_real(value: f64) -> String {
    if value.is_nan() { print_nan(DType::F64, value.to_bits()) } else { format!("{value:?}") }
}

/// Reads what [`print_real`] prints; also integers.
pub(super) fn parse_real(text: &str) -> Option<f64> {
    let bits = parse_float(DType::F64, text)?;
    Some(f64::from_bits(bits))
}

fn print_nan(dtype: DType, bits: u64) -> String {
    if bits == plain_nan(dtype) { "nan".to_owned() } else { format!("nan(0x{bits:x})") }
}

/// The bits of the element of a float type that `text` names.
fn parse_float(dtype: DType, text: &str) -> Option<u64> {
    let is_nan = |bits: u64| float_of(dtype, bits).is_nan();
    if let Some(digits) = text.strip_prefix("nan(0x").and_then(|rest| rest.strip_suffix(')')) {
        let bits = u64::from_str_radix(digits, 16).ok()?;
        let fits = dtype.size() == 8 || bits >> (8 * dtype.size()) == 0;
        return (fits && is_nan(bits)).then_some(bits);
    }
    match text {
        "nan" => Some(plain_nan(dtype)),
        "inf" => Some(bits_of(dtype, f64::INFINITY)),
        "-inf" => Some(bits_of(dtype, f64::NEG_INFINITY)),
        _ if text.ends_with(|c: char| c.is_ascii_digit() || c == '.') => {
            if dtype == DType::F32 {
                return Some(u64::from(text.parse::<f32>().ok()?.to_bits()));
            }
            Some(bits_of(dtype, text.parse().ok()?))
        }
        _ => None,
    }
}

/// The bits of a real number rounded to a float type.
fn bits_of(dtype: DType, value: f64) -> u64 {
    bits_at(HostTensor::scalar(dtype, value).bytes())
}

/// The value of an element of a float type.
fn float_of(dtype: DType, bits: u64) -> f64 {
    let bytes = bits.to_le_bytes()[..dtype.size()].to_vec();
    HostTensor::from_bytes(dtype, Shape::scalar(), bytes).map_or(f64::NAN, |tensor| tensor.f64s()[0])
}

fn bits_at(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte))
}

/// Prints one element of a tensor given by its bytes.
fn print_element(dtype: DType, bytes: &[u8]) -> String {
    let bits = bits_at(bytes);
    match dtype {
        DType::Pred => (bits != 0).to_string(),
        DType::F64 => print_real(f64::from_bits(bits)),
        DType::F32 | DType::Bf16 | DType::F16 => print_narrow(dtype, bits),
        _ if dtype.is_unsigned_int() => bits.to_string(),
        _ => {
            let unused = 64 - dtype.bits();
            ((bits << unused).cast_signed() >> unused).to_string()
        }
    }
}

/// Prints an element of a float type narrower than `f64` with as few digits as read back to the same bits.
fn print_narrow(dtype: DType, bits: u64) -> String {
    let value = float_of(dtype, bits);
    if value.is_nan() {
        return print_nan(dtype, bits);
    }
    let shortest =
        (0..17).map(|digits| format!("{value:.digits$e}")).find(|text| parse_float(dtype, text) == Some(bits));
    let shortest = shortest.and_then(|text| text.parse::<f64>().ok());
    format!("{:?}", shortest.unwrap_or(value))
}

/// Prints all elements: one alone for a scalar, else a flat list.
pub(super) fn print_elements(tensor: &HostTensor) -> String {
    let size = tensor.dtype().size();
    let mut elements = tensor.bytes().chunks_exact(size).map(|bytes| print_element(tensor.dtype(), bytes));
    if tensor.shape().rank() == 0 {
        return elements.next().unwrap_or_default();
    }
    format!("[{}]", elements.collect::<Vec<_>>().join(", "))
}

/// Appends the bytes of the element that `text` names; `None` when it is not an element of this type.
pub(super) fn parse_element(dtype: DType, text: &str, bytes: &mut Vec<u8>) -> Option<()> {
    let bits = match (dtype, text) {
        (DType::Pred, "true") => 1,
        (DType::Pred, "false") => 0,
        (DType::Pred, _) => return None,
        _ if dtype.is_float() => parse_float(dtype, text)?,
        _ => {
            let value: i128 = text.parse().ok()?;
            let (low, high) = dtype.int_range()?;
            if !(low..=high).contains(&value) {
                return None;
            }
            value as u64
        }
    };
    bytes.extend_from_slice(&bits.to_le_bytes()[..dtype.size()]);
    Some(())
}

/// Prints bytes as hexadecimal digits.
pub(super) fn print_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// Reads what [`print_hex`] prints.
pub(super) fn parse_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| if let [high, low] = *pair { Some((digit(high)? << 4 | digit(low)?) as u8) } else { None })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_width_element_reads_back() {
        for dtype in [DType::Bf16, DType::F16] {
            for bits in 0..=u16::MAX {
                let text = print_element(dtype, &bits.to_le_bytes());
                let mut bytes = Vec::new();
                assert!(parse_element(dtype, &text, &mut bytes).is_some(), "{text}");
                assert_eq!(bytes, bits.to_le_bytes(), "{text}");
            }
        }
    }

    #[test]
    fn floats_are_short() {
        let print = |dtype, value| print_elements(&HostTensor::scalar(dtype, value));
        assert_eq!(print(DType::F32, 0.1), "0.1");
        assert_eq!(print(DType::Bf16, 0.1), "0.1");
        assert_eq!(print(DType::F32, 1e-5), "1e-5");
        assert_eq!(print(DType::F16, f64::INFINITY), "inf");
        assert_eq!(print(DType::F64, -0.0), "-0.0");
        assert_eq!(print_real(f64::from_bits(0xfff8_0000_0000_0001)), "nan(0xfff8000000000001)");
    }

    #[test]
    fn elements_out_of_range_are_refused() {
        let refused = |dtype, text| parse_element(dtype, text, &mut Vec::new()).is_none();
        assert!(refused(DType::S8, "128") && refused(DType::U8, "-1") && refused(DType::S32, "1.0"));
        assert!(refused(DType::F32, "nan(0x1)") && refused(DType::F16, "nan(0x1ffff)") && refused(DType::Pred, "1"));
    }
}
