//! Elements of constants, straight into bytes.

use halite_hlo::ArrayType;
use halite_support::{Cursor, Diagnostic, Result, check_cancelled, codes};
use halite_tensor::DType;
use halite_tensor::listed::{Misfit, Notation, listed, push_decimal, push_integer};

/// The elements of a constant as little-endian bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Elements {
    /// One that stands for all.
    Splat(Vec<u8>),
    /// Each, the last dimension first.
    All(Vec<u8>),
}

/// The elements that stand between the marks of `dense<..>`.
pub(crate) fn elements(cursor: &Cursor<'_>, body: (usize, usize), ty: &ArrayType) -> Result<Elements> {
    let mut inside = cursor.within(body);
    if inside.is_at_end() {
        return match ty.num_elements() {
            Some(0) => Ok(Elements::All(Vec::new())),
            _ => Err(wrong_count(cursor, body, ty, 0)),
        };
    }
    match inside.peek() {
        b'"' => {
            let digits = inside.raw_string()?;
            packed(digits, ty).unwrap_or_else(|| Err(wrong_bytes(cursor, body, ty, digits)))
        }
        _ => of_list(cursor, body, ty),
    }
}

/// The bytes of hexadecimal digits behind `0x`; `None` where these are none.
pub(crate) fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let digits = digits.strip_prefix("0x")?.as_bytes();
    let (pairs, rest) = digits.as_chunks::<2>();
    let value = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    let mut bytes = Vec::with_capacity(pairs.len());
    for pair in pairs {
        bytes.push(value(pair[0])? << 4 | value(pair[1])?);
    }
    rest.is_empty().then_some(bytes)
}

/// Elements written as bytes: all of them, or one for all. `None` where these are no bytes of this type.
fn packed(digits: &str, ty: &ArrayType) -> Option<Result<Elements>> {
    of_bytes(bytes_of(digits)?, ty).map(Ok)
}

/// Elements of raw bytes. The bits of truth values are packed, the lowest first, or a byte each.
pub(crate) fn of_bytes(bytes: Vec<u8>, ty: &ArrayType) -> Option<Elements> {
    let (count, size) = (ty.num_elements()?, ty.dtype.size());
    if ty.dtype == DType::Pred {
        let bits = || (0..count).map(|at| bytes[at / 8] >> (at % 8) & 1).collect();
        return match bytes.len() {
            found if found == count => Some(Elements::All(bytes.iter().map(|&byte| u8::from(byte != 0)).collect())),
            found if found == count.div_ceil(8) => Some(Elements::All(bits())),
            1 => Some(Elements::Splat(vec![bytes[0] & 1])),
            _ => None,
        };
    }
    match bytes.len() {
        found if found == count * size => Some(Elements::All(bytes)),
        found if found == size => Some(Elements::Splat(bytes)),
        _ => None,
    }
}

/// The way in which MLIR lists elements.
const NOTATION: Notation = Notation { open: b'[', close: b']', number: push, goes_on: || check_cancelled().is_ok() };

/// Elements written as numbers in brackets for each dimension, or as one number.
fn of_list(cursor: &Cursor<'_>, body: (usize, usize), ty: &ArrayType) -> Result<Elements> {
    let place = |at: usize, length: usize| (body.0 + at, body.0 + at + length);
    let refused = |misfit: Misfit| match misfit {
        Misfit::Bracket(at, length) => Diagnostic::error(codes::SHAPE, format!("the brackets do not fit `{ty}`"))
            .at(cursor.span(place(at, length)), "here"),
        Misfit::Dimension(at, dim, found) => {
            let message = format!("{found} elements stand along dimension {dim} of `{ty}`");
            Diagnostic::error(codes::SHAPE, message).at(cursor.span(place(at, 1)), "here")
        }
        Misfit::Element(at, length) => {
            let place = place(at, length);
            no_element(cursor, place, cursor.slice(place.0, place.1), ty.dtype)
        }
        Misfit::Ended => check_cancelled().err().unwrap_or_else(|| Diagnostic::bug("nothing ended the list")),
    };
    let listed = listed(cursor.slice(body.0, body.1), ty.dtype, &ty.shape, NOTATION).map_err(refused)?;
    match () {
        () if listed.count == 1 && !listed.is_bracketed => Ok(Elements::Splat(listed.bytes)),
        () if Some(listed.count) == ty.num_elements() => Ok(Elements::All(listed.bytes)),
        () => Err(wrong_count(cursor, body, ty, listed.count)),
    }
}

/// Adds the bytes of a number; `None` where it is none of this type.
fn push(bytes: &mut Vec<u8>, word: &str, dtype: DType) -> Option<()> {
    if dtype.is_float() {
        return push_float(bytes, word, dtype);
    }
    let number = match word {
        "true" => 1,
        "false" => 0,
        _ => integer(word)?,
    };
    let bits = dtype.bits();
    // Numbers without a sign in their type may be written as the bits that they are.
    let bounds = match dtype {
        DType::Pred => (-1, 1),
        _ if dtype.is_unsigned_int() => (0, (1_i128 << bits) - 1),
        _ => (-(1_i128 << (bits - 1)), (1_i128 << bits) - 1),
    };
    push_integer(bytes, number, dtype, bounds)
}

fn integer(word: &str) -> Option<i128> {
    match word.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

/// Hexadecimal digits are the bits of a float.
fn push_float(bytes: &mut Vec<u8>, word: &str, dtype: DType) -> Option<()> {
    let Some(digits) = word.strip_prefix("0x") else { return push_decimal(bytes, word, dtype) };
    let size = dtype.size();
    let bits = u64::from_str_radix(digits, 16).ok().filter(|_| digits.len() <= 2 * size)?;
    bytes.extend_from_slice(bits.to_le_bytes().get(..size)?);
    Some(())
}

fn no_element(cursor: &Cursor<'_>, place: (usize, usize), word: &str, dtype: DType) -> Diagnostic {
    cursor.fault(place, &format!("`{word}` is no element of `{dtype}`"), "this element")
}

fn wrong_count(cursor: &Cursor<'_>, body: (usize, usize), ty: &ArrayType, found: usize) -> Diagnostic {
    let expected = ty.num_elements().unwrap_or(usize::MAX);
    let message = format!("`{ty}` has {expected} elements, found {found}");
    let start = cursor.within(body).at_next();
    Diagnostic::error(codes::SHAPE, message)
        .at(cursor.span((start.min(body.1), body.1.min(start + 1))), "these elements")
}

fn wrong_bytes(cursor: &Cursor<'_>, body: (usize, usize), ty: &ArrayType, digits: &str) -> Diagnostic {
    let start = cursor.within(body).at_next();
    let span = cursor.span((start, start + 1));
    // What MLIR's printer leaves out it writes as these digits.
    if digits.eq_ignore_ascii_case("0xDEADBEEF") {
        return elided(span);
    }
    let found = digits.len().saturating_sub(2);
    let message = format!(
        "`{ty}` has {} bytes, found {found} hexadecimal digits",
        ty.shape.num_bytes(ty.dtype).unwrap_or(usize::MAX)
    );
    Diagnostic::error(codes::SHAPE, message).at(span, "these bytes")
}

/// The fault of a constant that a printer left out.
pub(crate) fn elided(span: halite_support::Span) -> Diagnostic {
    let message = "the elements of a constant were left out when the text was printed";
    let help = "print it whole: `as_text()` of JAX does, and `mlir-opt` without `--mlir-elide-elementsattrs-if-larger`";
    Diagnostic::error(codes::FOREIGN, message).at(span, "no elements here").help(help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_support::FileId;

    fn read(text: &str, dtype: DType, sizes: &[usize]) -> Result<Elements> {
        elements(
            &Cursor::new(text, FileId::of("a", text)),
            (0, text.len()),
            &ArrayType::new(dtype, sizes.iter().copied().collect::<halite_tensor::Shape>()),
        )
    }

    #[test]
    fn elements_are_one_for_all_a_list_or_bytes() {
        let one = 1.5_f32.to_le_bytes().to_vec();
        assert_eq!(read("1.5", DType::F32, &[2, 3]).unwrap(), Elements::Splat(one.clone()));
        assert_eq!(read("1.500000e+00", DType::F32, &[]).unwrap(), Elements::Splat(one.clone()));
        assert_eq!(read("[[1], [-1]]", DType::S8, &[2, 1]).unwrap(), Elements::All(vec![1, 255]));
        assert_eq!(read("\"0x0000C03F\"", DType::F32, &[1]).unwrap(), Elements::All(one.clone()));
        assert_eq!(read("\"0x0000C03F\"", DType::F32, &[9]).unwrap(), Elements::Splat(one));
        assert_eq!(read("0x7FC0", DType::Bf16, &[]).unwrap(), Elements::Splat(vec![0xC0, 0x7F]));
        assert_eq!(read("[true, false]", DType::Pred, &[2]).unwrap(), Elements::All(vec![1, 0]));
        assert_eq!(read("\"0x0501\"", DType::Pred, &[9]).unwrap(), Elements::All(vec![1, 0, 1, 0, 0, 0, 0, 0, 1]));
        assert_eq!(read("", DType::F32, &[0, 4]).unwrap(), Elements::All(Vec::new()));
        assert_eq!(read("255", DType::S8, &[]).unwrap(), Elements::Splat(vec![255]));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = [
            ("[1, 2]", DType::S32, &[3][..], "2 elements stand along dimension 0"),
            ("[[1], [2]]", DType::S32, &[2], "the brackets do not fit"),
            ("[1, 2", DType::S32, &[2], "brackets do not fit"),
            ("1, 2", DType::S32, &[2], "brackets do not fit"),
            ("[1], [1]", DType::S32, &[1], "brackets do not fit"),
            ("300", DType::U8, &[], "`300` is no element of `u8`"),
            ("1.5", DType::S32, &[], "`1.5` is no element"),
            ("nan", DType::F32, &[], "`nan` is no element"),
            ("0x7FC00000", DType::F16, &[], "is no element"),
            ("", DType::F32, &[1 << 40], "has 1099511627776 elements, found 0"),
            ("\"0x00\"", DType::F32, &[1 << 40], "found 2 hexadecimal digits"),
            ("\"0xDEADBEEF\"", DType::F64, &[9], "left out"),
            ("\"zz\"", DType::F32, &[1], "hexadecimal"),
        ];
        for (text, dtype, sizes, message) in refused {
            let error = read(text, dtype, sizes).unwrap_err();
            assert!(error.message().contains(message), "{text}: {error}");
        }
    }
}
