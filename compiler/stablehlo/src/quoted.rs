//! Names and strings in the syntax of MLIR (<https://mlir.llvm.org/docs/LangRef>).

use std::fmt::Write;

/// A string literal. What is not printable in ASCII is written as two hexadecimal digits.
pub(crate) fn string(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' => text.push_str("\\22"),
            b'\\' => text.push_str("\\\\"),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => write!(text, "\\{byte:02X}").expect("writing to a string succeeds"),
        }
    }
    text + "\""
}

/// The name of a function or module, with its `@`.
pub(crate) fn symbol(name: &str) -> String {
    let is_bare = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(is_mark);
    if is_bare { format!("@{name}") } else { format!("@{}", string(name.as_bytes())) }
}

/// The name of a value, with its `%`, which a number makes unique.
pub(crate) fn value(name: &str, number: usize) -> String {
    let (base, own) = (name.rsplit_once('.')).unwrap_or((name, ""));
    let base = if own.parse() == Ok(number) { base } else { name };
    let base: String = base.chars().map(|c| if is_mark(c) { c } else { '_' }).collect();
    let first = if base.starts_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
    format!("%{first}{base}.{number}")
}

/// Whether a character may stand in names after their first character.
fn is_mark(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_strings_stay_one_token() {
        assert_eq!(string(b"a\"b\\c\n\xc3"), r#""a\22b\\c\0A\C3""#);
        assert_eq!(symbol("step.1"), "@step.1");
        assert_eq!(symbol("a b"), "@\"a b\"");
        assert_eq!(symbol(""), "@\"\"");
        assert_eq!(value("add.12", 12), "%add.12");
        assert_eq!(value("add.12", 3), "%add.12.3");
        assert_eq!(value("0 x", 3), "%_0_x.3");
        assert_eq!(value("", 3), "%.3");
    }
}
