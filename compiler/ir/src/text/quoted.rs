//! Names and strings in IR text: names are bare when they can be, in quotes otherwise.

use std::borrow::Cow;

fn is_bare(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.')
}

/// A name without its sigil, in quotes when it is empty or holds anything but letters, digits, `_` and `.`.
pub(super) fn print_name(name: &str) -> String {
    if is_bare(name) { name.to_owned() } else { print_string(name) }
}

/// A string in quotes.
pub(crate) fn print_string(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Reads what [`print_name`] or [`print_string`] prints.
pub(super) fn parse_name(text: &str) -> Cow<'_, str> {
    let Some(quoted) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return text.into() };
    if !quoted.contains('\\') {
        return quoted.into();
    }
    let mut name = String::with_capacity(quoted.len());
    let mut chars = quoted.chars();
    while let Some(c) = chars.next() {
        let escaped = if c == '\\' { chars.next() } else { None };
        name.push(match escaped {
            Some('n') => '\n',
            Some('r') => '\r',
            Some(other) => other,
            None => c,
        });
    }
    name.into()
}
