//! Strings and names of functions.

use halite_support::{Cursor, Result};

/// The name of a function, without its `@`.
pub(crate) fn symbol(cursor: &mut Cursor<'_>) -> Result<String> {
    if cursor.eat_all("@\"") {
        cursor.at -= 1;
        return cursor.raw_string().map(unescaped);
    }
    cursor.name(b'@', "a name such as `@main`").map(str::to_owned)
}

/// The text of a string literal: two hexadecimal digits are a byte. What is no UTF-8 then is replaced.
pub(crate) fn unescaped(raw: &str) -> String {
    if raw.contains('\\') { String::from_utf8_lossy(&unescaped_bytes(raw)).into_owned() } else { raw.to_owned() }
}

/// The bytes of a string literal.
pub(crate) fn unescaped_bytes(raw: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digit = |at: usize| after.get(at).and_then(|&digit| char::from(digit).to_digit(16));
        let (byte, taken) = match (first, after.first()) {
            (b'\\', Some(b'n')) => (b'\n', 1),
            (b'\\', Some(b't')) => (b'\t', 1),
            (b'\\', Some(&other)) => match (digit(0), digit(1)) {
                (Some(high), Some(low)) => ((high * 16 + low) as u8, 2),
                _ => (other, 1),
            },
            _ => (first, 0),
        };
        bytes.push(byte);
        rest = after.get(taken..).unwrap_or_default();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_support::FileId;

    #[test]
    fn names_of_functions_may_be_strings() {
        let text = "@main @\"a\\22b\\0A\" main";
        let mut cursor = Cursor::new(text, FileId::of("a", text));
        assert_eq!([symbol(&mut cursor).unwrap(), symbol(&mut cursor).unwrap()], ["main", "a\"b\n"]);
        assert!(symbol(&mut cursor).is_err());
    }
}
