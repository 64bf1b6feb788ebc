//! Cutting a text into lines.

use super::syntax::{Chunk, Rule};
use halite_support::FileId;

/// A line with the rule it follows, told by its first word. A signature that wraps is one line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'t> {
    pub(super) rule: Rule,
    /// The text without a comment at its end.
    pub(super) chunk: Chunk<'t>,
}

/// The lines of a text that hold more than blank space and comments.
pub(super) fn lines(text: &str, file: FileId) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut rest = physical(text).peekable();
    while let Some((start, code)) = rest.next() {
        if code.is_empty() {
            continue;
        }
        let rule = rule_of(code);
        let mut end = start + code.len();
        if rule == Rule::signature {
            let mut depth = depth_change(code);
            while depth > 0
                && let Some((start, code)) = rest.next_if(|(_, code)| !starts_other(code))
            {
                depth += depth_change(code);
                end = if code.is_empty() { end } else { start + code.len() };
            }
        }
        lines.push(Line { rule, chunk: Chunk { file, start, text: &text[start..end] } });
    }
    lines
}

/// Start and code of each physical line: neither blank space around it nor its comment.
fn physical(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut offset = 0;
    text.split_inclusive('\n').map(move |line| {
        let code = without_comment(line);
        let start = offset + code.len() - code.trim_start().len();
        offset += line.len();
        (start, code.trim())
    })
}

fn without_comment(line: &str) -> &str {
    let code = code_bytes(line).find(|&(at, _)| line[at..].starts_with("//"));
    code.map_or(line, |(at, _)| &line[..at])
}

/// The bytes of a line outside of quotes that start a character, with their positions.
fn code_bytes(line: &str) -> impl Iterator<Item = (usize, u8)> {
    let (mut quoted, mut escaped) = (false, false);
    line.bytes().enumerate().filter(move |&(_, byte)| {
        if escaped {
            escaped = false;
            return false;
        }
        match byte {
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ => {}
        }
        !quoted && byte.is_ascii()
    })
}

/// The number of parentheses that a line leaves open; negative when it closes more.
fn depth_change(code: &str) -> i64 {
    let change = |byte| match byte {
        b'(' => 1,
        b')' => -1,
        _ => 0,
    };
    code_bytes(code).map(|(_, byte)| change(byte)).sum()
}

fn first_word(code: &str) -> &str {
    let end = code.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')).unwrap_or(code.len());
    &code[..end]
}

fn rule_of(code: &str) -> Rule {
    let word = first_word(code);
    if code[word.len()..].trim_start().starts_with(':') {
        return Rule::instruction;
    }
    match word {
        "halite.ir" => Rule::header,
        "module" => Rule::module,
        "resource" => Rule::resource,
        "func" => Rule::signature,
        "return" => Rule::return_line,
        "" if code.starts_with('}') => Rule::close,
        _ => Rule::instruction,
    }
}

/// Whether a line inside an unfinished signature shows that the signature was never finished.
fn starts_other(code: &str) -> bool {
    matches!(rule_of(code), Rule::signature | Rule::return_line | Rule::close)
        || code.starts_with('%')
            && code_bytes(code).find(|(_, byte)| matches!(byte, b'=' | b':')).is_some_and(|(_, b)| b == b'=')
}
