//! Counts that pages state, held to what there is: the library allots memory by them.

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::Page;
use parquet::errors::ParquetError;

/// The most values of a page.
const MOST_VALUES: u32 = 1 << 26;

/// The most bytes of a page whose values are made of one another, so that each may be as long as the page; and of a page with a dictionary,
/// whose entries take ten times as much in memory.
const MOST_BYTES: usize = 1 << 26;

/// # Errors
/// When a page states more than it can hold.
pub(super) fn check(page: &Page, levels: bool) -> Result<(), ParquetError> {
    let values = page.num_values();
    let wrong = |what: &str| Err(ParquetError::General(format!("a page states {what}")));
    match page {
        Page::DictionaryPage { buf, .. } if buf.len() > MOST_BYTES => {
            wrong(&format!("a dictionary of {} bytes", buf.len()))
        }
        // Each begins with four bytes that say how long it is.
        Page::DictionaryPage { buf, .. } if values as usize > buf.len() / 4 => {
            wrong(&format!("a dictionary of {values} values in {} bytes", buf.len()))
        }
        Page::DictionaryPage { .. } => Ok(()),
        _ if values > MOST_VALUES => wrong(&format!("{values} values, {MOST_VALUES} is the most")),
        Page::DataPage { buf, encoding, .. } => {
            let level_bytes = if levels { 4 + number(buf.get(..4)) } else { 0 };
            encoded(buf, level_bytes, *encoding, values)
        }
        Page::DataPageV2 { buf, encoding, def_levels_byte_len, rep_levels_byte_len, .. } => {
            encoded(buf, *def_levels_byte_len as usize + *rep_levels_byte_len as usize, *encoding, values)
        }
    }
}

fn number(bytes: Option<&[u8]>) -> usize {
    bytes.and_then(|bytes| bytes.try_into().ok()).map_or(0, |bytes| u32::from_le_bytes(bytes) as usize)
}

/// Holds the counts of lists of lengths to the number of values.
fn encoded(page: &Bytes, levels: usize, encoding: Encoding, values: u32) -> Result<(), ParquetError> {
    let lists = match encoding {
        Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
        Encoding::DELTA_BYTE_ARRAY => 2,
        _ => return Ok(()),
    };
    let wrong = |what: String| Err(ParquetError::General(format!("a page states {what}")));
    if lists == 2 && page.len() > MOST_BYTES {
        return wrong(format!("values in {} bytes that are made of one another", page.len()));
    }
    let Some(mut bytes) = page.get(levels..) else {
        return wrong(format!("levels of {levels} bytes in {}", page.len()));
    };
    for _ in 0..lists {
        match Lengths::read(&mut bytes) {
            Some(count) if count <= u64::from(values) => {}
            Some(count) => return wrong(format!("{count} lengths of {values} values")),
            None => return wrong("lengths that end early".to_owned()),
        }
    }
    Ok(())
}

/// Whole numbers as differences in packed bits, as the [format](https://parquet.apache.org/docs/file-format/data-pages/encodings/) has
/// them: a head, then blocks of smaller ones, each with the bits of its numbers.
struct Lengths;

impl Lengths {
    /// Reads over such a list, and says how many numbers are in it.
    fn read(bytes: &mut &[u8]) -> Option<u64> {
        let [block, parts, count, _first] = [varint(bytes)?, varint(bytes)?, varint(bytes)?, varint(bytes)?];
        let each = block.checked_div(parts).filter(|each| *each > 0)?;
        let mut left = count.saturating_sub(1);
        while left > 0 {
            varint(bytes)?;
            let widths = take(bytes, parts)?;
            for width in widths {
                if left == 0 {
                    break;
                }
                take(bytes, each.checked_mul(u64::from(*width))?.div_ceil(8))?;
                left = left.saturating_sub(each);
            }
        }
        Some(count)
    }
}

fn take<'a>(bytes: &mut &'a [u8], count: u64) -> Option<&'a [u8]> {
    let (front, rest) = bytes.split_at_checked(usize::try_from(count).ok()?)?;
    *bytes = rest;
    Some(front)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)?[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(bytes: &mut Vec<u8>, mut number: u64) {
        while number >= 0x80 {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
    }

    /// A list of as many zeros as `there`, which says that it has `count`.
    fn list(count: u64, there: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        [128, 4, count, 0].into_iter().for_each(|number| put(&mut bytes, number));
        (0..there.div_ceil(128)).for_each(|_| bytes.extend([0; 5]));
        bytes
    }

    fn page(encoding: Encoding, levels: &[u8], values: u32, bytes: Vec<u8>) -> Page {
        Page::DataPage {
            buf: [levels, &bytes].concat().into(),
            num_values: values,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        }
    }

    #[test]
    fn counts_are_held_to_what_is_there() {
        let (length, delta) = (Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY);
        for (encoding, values, bytes, right) in [
            (length, 300, list(300, 300), true),
            (length, 300, list(1 << 41, 300), false),
            (length, 300, list(301, 301), false),
            (length, 300, list(300, 100), false),
            (delta, 20, [list(20, 20), list(20, 20)].concat(), true),
            (delta, 20, [list(20, 20), list(1 << 41, 20)].concat(), false),
            (Encoding::PLAIN, MOST_VALUES, vec![], true),
            (Encoding::PLAIN, MOST_VALUES + 1, vec![], false),
        ] {
            assert_eq!(check(&page(encoding, &[], values, bytes.clone()), false).is_ok(), right, "{encoding} {values}");
            let levels = [2, 0, 0, 0, 40, 1];
            assert_eq!(check(&page(encoding, &levels, values, bytes), true).is_ok(), right, "{encoding} {values}");
        }
        for (values, bytes, right) in [(3, 12, true), (4, 12, false), (u32::MAX, 12, false), (3, MOST_BYTES + 1, false)]
        {
            let (buf, encoding) = (vec![0; bytes].into(), Encoding::PLAIN);
            let page = Page::DictionaryPage { buf, num_values: values, encoding, is_sorted: false };
            assert_eq!(check(&page, false).is_ok(), right, "{values} {bytes}");
        }
    }
}
