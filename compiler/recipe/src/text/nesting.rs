//! A check before parsing that bounds how deep the tree of a recipe gets.
//!
//! The parser has a limit of its own, but takes a bracket that it skips after a mistake for one that closes another, so
//! that it recurses without end on `a = {[]a = {[]a = ..`.

use halite_support::{Diagnostic, FileId, Result, Span, codes};
use toml_parser::Source;
use toml_parser::lexer::TokenKind;

/// How deep brackets and the parts of dotted keys in them may nest; no key of a recipe is as deep.
const MAX_NESTING: usize = 32;

/// Follows the brackets of `text`, which stands at `start` of its file. Where they do not match it counts more than are
/// open, never fewer.
///
/// # Errors
/// When more than [`MAX_NESTING`] are open.
pub(super) fn check(file: FileId, start: usize, text: &str) -> Result<()> {
    // Each open bracket with what closes it and the depth around it.
    let mut open: Vec<(TokenKind, usize)> = Vec::new();
    let (mut around, mut dots) = (0, 0);
    for token in Source::new(text).lex() {
        match token.kind() {
            TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => {
                let is_list = token.kind() == TokenKind::LeftSquareBracket;
                open.push((if is_list { TokenKind::RightSquareBracket } else { TokenKind::RightCurlyBracket }, around));
                around += 1 + std::mem::take(&mut dots);
            }
            close @ (TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket) => {
                dots = 0;
                if let Some((_, before)) = open.pop_if(|(closes, _)| *closes == close) {
                    around = before;
                }
            }
            TokenKind::Dot => dots += 1,
            TokenKind::Comma => dots = 0,
            TokenKind::Newline if open.is_empty() => dots = 0,
            _ => {}
        }
        if around + dots > MAX_NESTING {
            let span = Span::new(file, start + token.span().start(), start + token.span().end());
            let message = format!("brackets and dotted keys nest more than {MAX_NESTING} deep");
            return Err(Diagnostic::error(codes::LIMIT, message).at(span, "here").help(
                "close each bracket where its list or table ends, and nest less: no key of a recipe is as deep",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_refused(text: &str) -> bool {
        check(FileId::of("r.toml", text), 0, text).is_err()
    }

    #[test]
    fn nothing_nests_without_end() {
        for part in ["a = {[]a = {", "a = [}", "a = {]a = {", "a.b.c = {", "a\n.b\n.c = {", "[[", "a."] {
            assert!(is_refused(&part.repeat(MAX_NESTING + 1)), "{part}");
            assert!(super::super::tree::parse(FileId::of("r.toml", part), &part.repeat(20_000)).is_err(), "{part}");
        }
    }

    #[test]
    fn what_is_closed_does_not_nest() {
        for part in
            ["a = {b = []}\n", "[a.b]\nc.d = 1.5\n", "a = \"[\"\n", "a = '{' # {\n", "[[a]]\n", "a = '''\n[[\n'''\n"]
        {
            assert!(!is_refused(&part.repeat(100)), "{part}");
        }
        assert!(!is_refused(&format!("a = [{}]", "1.5, ".repeat(100))));
    }
}
