//! Elements written as numbers in brackets, straight into bytes.

use crate::rounding::{to_bf16, to_f16};
use crate::{DType, Dims, Shape};

/// The marks around numbers, and the numbers that may stand there.
#[derive(Clone, Copy, Debug)]
pub struct Notation {
    /// The mark that opens the elements along a dimension.
    pub open: u8,
    /// The mark that closes them.
    pub close: u8,
    /// Adds the bytes of a number; `None` where a word is none of the type.
    pub number: fn(&mut Vec<u8>, &str, DType) -> Option<()>,
    /// Looked at now and then; reading ends where it is false.
    pub goes_on: fn() -> bool,
}

/// Elements that were read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listed {
    /// The numbers as little-endian bytes, the last dimension first.
    pub bytes: Vec<u8>,
    /// How many there are.
    pub count: usize,
    /// Whether a bracket is around them.
    pub is_bracketed: bool,
}

/// The reason for which elements are not read, with the byte of the text at which it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Misfit {
    /// A bracket or number of so many bytes stands where the shape has none.
    Bracket(usize, usize),
    /// So many elements stand along a dimension, which is another number than the shape has.
    Dimension(usize, usize, usize),
    /// A word of so many bytes is no element.
    Element(usize, usize),
    /// It was told to end.
    Ended,
}

/// Numbers between looks at whether to go on.
const LOOK: usize = 1 << 16;

/// The brackets around numbers: how many of them are open, and what each has so far.
struct Brackets<'a> {
    shape: &'a Shape,
    depth: usize,
    counts: Dims,
    /// Numbers so far.
    found: usize,
}

impl Brackets<'_> {
    /// Goes into a bracket. Whether there may be one.
    fn open(&mut self) -> bool {
        if self.depth >= self.shape.rank() || (self.depth == 0 && self.found > 0) {
            return false;
        }
        if self.depth > 0 {
            self.counts[self.depth - 1] += 1;
        }
        self.counts[self.depth] = 0;
        self.depth += 1;
        true
    }

    /// Leaves a bracket. Otherwise the dimension, and the number of parts that it has here.
    fn close(&mut self) -> Result<(), Option<(usize, usize)>> {
        let dim = self.depth.checked_sub(1).ok_or(None)?;
        if self.counts[dim] != self.shape[dim] {
            return Err(Some((dim, self.counts[dim])));
        }
        self.depth = dim;
        Ok(())
    }

    /// Counts a number. Whether it may stand here: in all brackets, or alone in none.
    fn number(&mut self) -> bool {
        let (is_inside, is_alone) = (self.depth == self.shape.rank(), self.depth == 0 && self.found == 0);
        if let (true, Some(last)) = (is_inside, self.counts.last_mut()) {
            *last += 1;
        }
        self.found += 1;
        is_alone || is_inside && self.depth > 0
    }
}

/// Elements of `dtype` as a text lists them: numbers in brackets for each dimension of `shape`, or one number in none.
///
/// # Errors
/// The first bracket or number that does not fit. That all elements are there is for the caller to see.
pub fn listed(text: &str, dtype: DType, shape: &Shape, notation: Notation) -> Result<Listed, Misfit> {
    let source = text.as_bytes();
    let count = shape.num_elements();
    // A number and its comma are two bytes of text.
    let mut bytes = Vec::with_capacity(count.min(source.len() / 2 + 1) * dtype.size());
    let mut brackets = Brackets { shape, depth: 0, counts: Dims::from_elem(0, shape.rank()), found: 0 };
    let ends = |byte: u8| {
        matches!(byte, b',' | b' ' | b'\n' | b'\t' | b'\r') || byte == notation.open || byte == notation.close
    };
    let mut is_bracketed = false;
    let mut at = 0;
    while let Some(&byte) = source.get(at) {
        let mut length = 1;
        match byte {
            b' ' | b'\n' | b'\t' | b'\r' | b',' => {}
            b'/' if source[at..].starts_with(b"/*") => {
                length = text[at..].find("*/").map_or(source.len() - at, |length| length + 2);
            }
            _ if byte == notation.open => match brackets.open() {
                true => is_bracketed = true,
                false => return Err(Misfit::Bracket(at, 1)),
            },
            _ if byte == notation.close => match brackets.close() {
                Ok(()) => {}
                Err(None) => return Err(Misfit::Bracket(at, 1)),
                Err(Some((dim, found))) => return Err(Misfit::Dimension(at, dim, found)),
            },
            _ => {
                length = source[at..].iter().position(|&byte| ends(byte)).unwrap_or(source.len() - at);
                if !brackets.number() {
                    return Err(Misfit::Bracket(at, length));
                }
                let word = text.get(at..at + length).unwrap_or_default();
                (notation.number)(&mut bytes, word, dtype).ok_or(Misfit::Element(at, length))?;
                if brackets.found.is_multiple_of(LOOK) && !(notation.goes_on)() {
                    return Err(Misfit::Ended);
                }
            }
        }
        at += length;
    }
    match brackets.depth {
        0 => Ok(Listed { bytes, count: brackets.found, is_bracketed }),
        _ => Err(Misfit::Bracket(source.len().saturating_sub(1), 1)),
    }
}

/// Adds the bytes of a whole number of `dtype`, which is no float, where it is between two bounds.
pub fn push_integer(bytes: &mut Vec<u8>, number: i128, dtype: DType, bounds: (i128, i128)) -> Option<()> {
    if number < bounds.0 || number > bounds.1 {
        return None;
    }
    let number = if dtype == DType::Pred { number & 1 } else { number };
    bytes.extend_from_slice(number.to_le_bytes().get(..dtype.size())?);
    Some(())
}

/// Adds the bytes of a decimal of `dtype`, which is a float: it is read as `f64` and rounded then, as XLA and MLIR do.
pub fn push_decimal(bytes: &mut Vec<u8>, word: &str, dtype: DType) -> Option<()> {
    let is_decimal = word.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let value: f64 = word.parse().ok().filter(|_| is_decimal)?;
    match dtype {
        DType::F64 => bytes.extend_from_slice(&value.to_le_bytes()),
        DType::F32 => bytes.extend_from_slice(&(value as f32).to_le_bytes()),
        DType::Bf16 => bytes.extend_from_slice(&to_bf16(value).to_le_bytes()),
        _ => bytes.extend_from_slice(&to_f16(value).to_le_bytes()),
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, sizes: &[usize]) -> Result<Listed, Misfit> {
        let number =
            |bytes: &mut Vec<u8>, word: &str, dtype| push_integer(bytes, word.parse().ok()?, dtype, (-128, 127));
        listed(text, DType::S8, &Shape::from(sizes), Notation { open: b'{', close: b'}', number, goes_on: || false })
    }

    #[test]
    fn numbers_stand_in_all_brackets_or_in_none() {
        let all = |bytes: &[u8]| Listed { bytes: bytes.to_vec(), count: bytes.len(), is_bracketed: true };
        assert_eq!(read("{ { /*i0=0*/ 1, -1 }, {2,3} }", &[2, 2]), Ok(all(&[1, 255, 2, 3])));
        assert_eq!(read("{ {}, {} }", &[2, 0]), Ok(all(&[])));
        assert_eq!(read(" 7 ", &[2]), Ok(Listed { bytes: vec![7], count: 1, is_bracketed: false }));
        assert_eq!(read("{1, 2}", &[3]), Err(Misfit::Dimension(5, 0, 2)));
        assert_eq!(read("{1}, {2}", &[1]), Err(Misfit::Bracket(5, 1)));
        assert_eq!(read("{1", &[1]), Err(Misfit::Bracket(1, 1)));
        assert_eq!(read("}", &[1]), Err(Misfit::Bracket(0, 1)));
        assert_eq!(read("{1, 300}", &[2]), Err(Misfit::Element(4, 3)));
        assert_eq!(read(&format!("{{{}}}", "1,".repeat(LOOK)), &[LOOK]), Err(Misfit::Ended));
        assert_eq!(read("{1} /* no end", &[1]), Ok(all(&[1])));
    }
}
