//! The elements of constants.

use super::super::nan;
use super::reader::Reader;
use crate::proto::{LiteralProto, ShapeProto};
use crate::types::{ArrayType, Type};
use halite_support::{Diagnostic, Result, check_cancelled, codes};
use halite_tensor::listed::{Misfit, Notation, listed, push_decimal, push_integer};
use halite_tensor::{DType, HostTensor};

/// The way in which XLA lists elements.
const NOTATION: Notation = Notation { open: b'{', close: b'}', number: push, goes_on: || check_cancelled().is_ok() };

impl Reader<'_> {
    /// The elements up to `)`, which is not taken. Those of types that we lack are not kept.
    pub(super) fn literal(&mut self, shape: &ShapeProto) -> Result<LiteralProto> {
        let start = self.cursor.at_next();
        let cursor = self.cursor;
        let length = extent(self.cursor.rest());
        let text = self.cursor.slice(start, start + length);
        let span = |at: usize, length: usize| cursor.span((start + at, start + at + length));
        if text.trim() == "{...}" {
            return Err(elided().at(span(0, 5), "no elements here"));
        }
        self.cursor.at = start + length;
        let ArrayType { dtype, shape: sizes } = match Type::from_proto(shape) {
            Ok(Type::Array(array)) => array,
            Ok(Type::Tuple(_)) => {
                let fault = Diagnostic::error(codes::FOREIGN, "a constant that is a tuple is not read");
                return Err(fault.at(span(0, length), "this constant").help("make a tuple of constants"));
            }
            Err(fault) if shape.dtype().is_some() => return Err(fault.at(span(0, length), "this constant")),
            Err(_) => return Ok(LiteralProto { shape: Some(shape.clone().into()), ..LiteralProto::default() }),
        };
        let ty = || format!("{dtype}{sizes}");
        let refused = |misfit: Misfit| match misfit {
            Misfit::Bracket(at, length) => Diagnostic::error(codes::SHAPE, format!("the braces do not fit `{}`", ty()))
                .at(span(at, length), "here"),
            Misfit::Dimension(at, dim, found) => {
                let message = format!("{found} elements stand along dimension {dim} of `{}`", ty());
                Diagnostic::error(codes::SHAPE, message).at(span(at, 1), "here")
            }
            Misfit::Element(at, length) => {
                let word = text.get(at..at + length).unwrap_or_default();
                let message = format!("`{word}` is no element of `{dtype}`");
                Diagnostic::error(codes::SYNTAX, message).at(span(at, length), "this element")
            }
            Misfit::Ended => check_cancelled().err().unwrap_or_else(|| Diagnostic::bug("nothing ended the list")),
        };
        let found = listed(text, dtype, &sizes, NOTATION).map_err(refused)?;
        let expected = sizes.num_elements();
        if found.count != expected || found.is_bracketed != (sizes.rank() > 0) {
            let message = format!("`{}` has {expected} elements, found {}", ty(), found.count);
            return Err(Diagnostic::error(codes::SHAPE, message).at(span(0, length), "these elements"));
        }
        let tensor = HostTensor::from_bytes(dtype, sizes, found.bytes);
        let tensor = tensor.map_err(|_| Diagnostic::bug("the elements were just counted"))?;
        Ok(LiteralProto::laid(&tensor, shape))
    }
}

/// The bytes up to the mark that closes the operands, or where none does up to the end of the line.
fn extent(rest: &[u8]) -> usize {
    let mut depth = 0_usize;
    let closes = |byte: &u8| match byte {
        b'(' => {
            depth += 1;
            false
        }
        b')' if depth > 0 => {
            depth -= 1;
            false
        }
        byte => *byte == b')',
    };
    let end = rest.iter().position(closes).or_else(|| rest.iter().position(|&byte| byte == b'\n'));
    end.unwrap_or(rest.len())
}

fn elided() -> Diagnostic {
    let message = "the elements of a constant were left out when the text was printed";
    let help = "print it whole: `--xla_dump_large_constants`, or `as_hlo_text(print_large_constants=True)` of JAX";
    Diagnostic::error(codes::FOREIGN, message).help(help)
}

/// Adds the bytes of a number; `None` where it is none of this type.
fn push(bytes: &mut Vec<u8>, word: &str, dtype: DType) -> Option<()> {
    if dtype.is_float() {
        return push_float(bytes, word, dtype);
    }
    let number = match word {
        "true" => 1,
        "false" => 0,
        _ => word.parse().ok()?,
    };
    push_integer(bytes, number, dtype, dtype.int_range().unwrap_or((0, 1)))
}

/// Decimals, `inf`, and `nan`, behind which may stand its bits: `-nan(0x400001)`.
fn push_float(bytes: &mut Vec<u8>, word: &str, dtype: DType) -> Option<()> {
    let (sign, size) = (word.strip_prefix('-'), dtype.size());
    let magnitude = sign.unwrap_or(word);
    let (infinite, quiet) = (nan::infinity(dtype), nan::quiet(dtype));
    let bits = match magnitude.strip_prefix("nan") {
        Some("") => infinite | quiet,
        Some(payload) => {
            let digits = payload.strip_prefix("(0x")?.strip_suffix(')')?;
            let payload = u64::from_str_radix(digits, 16).ok()?;
            infinite | Some(payload).filter(|payload| (1..2 * quiet).contains(payload))?
        }
        None if magnitude == "inf" => infinite,
        None => {
            let start = bytes.len();
            push_decimal(bytes, word, dtype)?;
            // What is too large is not what was written.
            let is_finite = |bits: u64| bits & infinite != infinite;
            let mut wide = [0; 8];
            wide[..size].copy_from_slice(bytes.get(start..)?);
            return is_finite(u64::from_le_bytes(wide)).then_some(());
        }
    };
    let bits = if sign.is_some() { bits | 1 << (8 * size - 1) } else { bits };
    bytes.extend_from_slice(bits.to_le_bytes().get(..size)?);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(word: &str, dtype: DType) -> Option<u64> {
        let mut bytes = Vec::new();
        push(&mut bytes, word, dtype)?;
        bytes.resize(8, 0);
        bytes.try_into().ok().map(u64::from_le_bytes)
    }

    #[test]
    fn floats_that_are_no_number_have_bits() {
        assert_eq!(bits("nan", DType::F32), Some(0x7FC0_0000));
        assert_eq!(bits("-nan(0x400001)", DType::F32), Some(0xFFC0_0001));
        assert_eq!(bits("nan(0x1)", DType::Bf16), Some(0x7F81));
        assert_eq!(bits("-inf", DType::F16), Some(0xFC00));
        assert_eq!(bits("inf", DType::F64), Some(0x7FF0_0000_0000_0000));
        assert_eq!(bits("-0", DType::F32), Some(0x8000_0000));
        for wrong in ["nan(0x0)", "nan(0x800000)", "nan(1)", "1e39", "infinity", "NaN", "0x1"] {
            assert_eq!(bits(wrong, DType::F32), None, "{wrong}");
        }
    }

    #[test]
    fn whole_numbers_are_within_their_types() {
        assert_eq!(bits("-128", DType::S8), Some(128));
        assert_eq!(bits("true", DType::Pred), Some(1));
        for (wrong, dtype) in [("255", DType::S8), ("-1", DType::U8), ("2", DType::Pred), ("1.5", DType::S32)] {
            assert_eq!(bits(wrong, dtype), None, "{wrong}");
        }
    }
}
