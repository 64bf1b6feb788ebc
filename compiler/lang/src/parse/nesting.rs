//! A check before parsing that bounds the recursion of the parser.

use halite_support::{Diagnostic, FileId, Result, Span, codes};

/// The depth to which brackets may nest.
const MAX_NESTING: usize = 32;

/// Counts open brackets outside comments and quoted texts.
///
/// # Errors
/// When more than [`MAX_NESTING`] are open.
pub(super) fn check(file: FileId, text: &str) -> Result<()> {
    let (mut open, mut quoted, mut comment) = (0_usize, false, false);
    let mut previous = '\n';
    for (at, c) in text.char_indices() {
        match c {
            '\n' => (quoted, comment) = (false, false),
            _ if comment => {}
            '"' => quoted = !quoted,
            _ if quoted => {}
            '/' if previous == '/' => comment = true,
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => open = open.saturating_sub(1),
            _ => {}
        }
        if open > MAX_NESTING {
            let message = format!("more than {MAX_NESTING} brackets are open at once");
            let span = Span::new(file, at, at + c.len_utf8());
            return Err(Diagnostic::error(codes::LIMIT, message).at(span, "here").help("give inner parts names"));
        }
        previous = c;
    }
    Ok(())
}
