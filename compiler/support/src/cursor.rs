//! A place in a text of MLIR or HLO, and the words, names and marks that stand there.

use crate::{Diagnostic, FileId, Result, Span, codes};

/// A place in a text. Every method that reads skips blanks and comments first.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'t> {
    text: &'t str,
    file: FileId,
    /// The next byte.
    pub at: usize,
    /// The byte at which reading ends.
    end: usize,
}

impl<'t> Cursor<'t> {
    /// The begin of a text.
    pub fn new(text: &'t str, file: FileId) -> Self {
        Self { text, file, at: 0, end: text.len() }
    }

    /// The same text from one byte up to another.
    pub fn within(self, (start, end): (usize, usize)) -> Self {
        Self { at: start.min(self.text.len()), end: end.min(self.text.len()), ..self }
    }

    /// The byte at which reading ends.
    pub fn length(&self) -> usize {
        self.end
    }

    fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes()
    }

    /// The text between two bytes.
    pub fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// The byte at a distance from the next one; 0 behind the end.
    fn byte(&self, ahead: usize) -> u8 {
        match self.at + ahead < self.end {
            true => self.bytes().get(self.at + ahead).copied().unwrap_or(0),
            false => 0,
        }
    }

    /// Skips blanks and comments.
    pub fn skip(&mut self) {
        loop {
            match self.byte(0) {
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                b'/' if self.byte(1) == b'/' => self.skip_line(),
                b'/' if self.byte(1) == b'*' => self.skip_comment(),
                _ => return,
            }
        }
    }

    /// Goes behind a comment between `/*` and `*/`, or to the end of the text.
    fn skip_comment(&mut self) {
        let rest = self.slice(self.at + 2, self.end);
        self.at += 2 + rest.find("*/").map_or(rest.len(), |length| length + 2);
    }

    /// Goes to the end of the line.
    pub fn skip_line(&mut self) {
        let rest = self.slice(self.at, self.end);
        self.at += rest.find('\n').unwrap_or(rest.len());
    }

    /// The next byte that is no blank; 0 at the end.
    pub fn peek(&mut self) -> u8 {
        self.skip();
        self.byte(0)
    }

    /// Where the next thing that is no blank begins.
    pub fn at_next(&mut self) -> usize {
        self.skip();
        self.at
    }

    /// The bytes from here on.
    pub fn rest(&self) -> &'t [u8] {
        self.bytes().get(self.at..self.end).unwrap_or_default()
    }

    /// Whether nothing but blanks and comments is left.
    pub fn is_at_end(&mut self) -> bool {
        self.skip();
        self.at >= self.end
    }

    /// Takes a mark if it is next.
    pub fn eat(&mut self, mark: u8) -> bool {
        let is_next = self.peek() == mark;
        self.at += usize::from(is_next);
        is_next
    }

    /// Takes a mark of several bytes if it is next.
    pub fn eat_all(&mut self, mark: &str) -> bool {
        self.skip();
        let is_next = self.slice(self.at, self.end).starts_with(mark);
        self.at += if is_next { mark.len() } else { 0 };
        is_next
    }

    /// Takes a mark, which must be next.
    pub fn expect(&mut self, mark: u8) -> Result<()> {
        match self.eat(mark) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{}`", char::from(mark)))),
        }
    }

    /// Takes a mark of several bytes, which must be next.
    pub fn expect_all(&mut self, mark: &str) -> Result<()> {
        if self.eat_all(mark) { Ok(()) } else { Err(self.unexpected(&format!("`{mark}`"))) }
    }

    /// The word that is next, without taking it; empty where none is.
    pub fn peek_word(&mut self) -> &'t str {
        self.skip();
        match self.byte(0) {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.run(0, is_word),
            _ => "",
        }
    }

    /// The word that is next, in which `-` may stand too, without taking it; empty where none is.
    pub fn peek_dashed(&mut self) -> &'t str {
        self.skip();
        match self.byte(0) {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.run(0, is_mark),
            _ => "",
        }
    }

    /// Takes a word if it is next.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let is_next = self.peek_word() == word;
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }

    /// A word: the name of an operation or attribute.
    pub fn word(&mut self) -> Result<&'t str> {
        match self.peek_word() {
            "" => Err(self.unexpected("a word")),
            word => {
                self.at += word.len();
                Ok(word)
            }
        }
    }

    /// The text of bytes of a kind, from a distance behind the next one.
    fn run(&self, ahead: usize, is_in: fn(u8) -> bool) -> &'t str {
        let start = (self.at + ahead).min(self.end);
        let rest = self.bytes().get(start..self.end).unwrap_or_default();
        let length = rest.iter().position(|&byte| !is_in(byte)).unwrap_or(rest.len());
        self.slice(start, start + length)
    }

    /// A name behind a mark such as `%`, without it.
    pub fn name(&mut self, mark: u8, what: &str) -> Result<&'t str> {
        self.skip();
        let name = if self.byte(0) == mark { self.run(1, is_mark) } else { "" };
        if name.is_empty() {
            return Err(self.unexpected(what));
        }
        self.at += 1 + name.len();
        Ok(name)
    }

    /// A name where nothing else can be, with a mark such as `%` or without it; it may begin with a digit.
    pub fn bare_name(&mut self, mark: u8, what: &str) -> Result<&'t str> {
        if self.peek() == mark {
            return self.name(mark, what);
        }
        let name = self.run(0, is_mark);
        if name.is_empty() {
            return Err(self.unexpected(what));
        }
        self.at += name.len();
        Ok(name)
    }

    /// A string literal as it is written, without its quotes.
    pub fn raw_string(&mut self) -> Result<&'t str> {
        if self.peek() != b'"' {
            return Err(self.unexpected("a string in quotes"));
        }
        let start = self.at + 1;
        let mut end = start;
        loop {
            let rest = self.bytes().get(end..self.end).unwrap_or_default();
            // Strings of constants are long, and hold nothing that is escaped.
            let Some(found) = find_either(rest) else {
                return Err(self.fault((self.at, start), "a string has no end", "it begins here"));
            };
            end += found;
            if self.bytes().get(end) == Some(&b'"') {
                break;
            }
            end += 2;
        }
        self.at = end + 1;
        Ok(self.slice(start, end))
    }

    /// A whole number.
    pub fn integer(&mut self) -> Result<i64> {
        let start = self.at_next();
        let sign = usize::from(self.byte(0) == b'-');
        let digits = self.run(sign, |byte| byte.is_ascii_alphanumeric());
        let text = self.slice(start, start + sign + digits.len());
        let hexadecimal = digits.strip_prefix("0x").map(|digits| i64::from_str_radix(digits, 16));
        let number = match hexadecimal {
            // Sizes such as `0x4` of shapes are read elsewhere.
            Some(number) if sign == 0 => number,
            _ => text.parse::<i64>(),
        };
        if digits.is_empty() {
            return Err(self.unexpected("a whole number"));
        }
        let number = number.map_err(|_| {
            self.fault((start, start + text.len()), &format!("`{text}` is no whole number of 64 bits"), "here")
        })?;
        self.at = start + text.len();
        Ok(number)
    }

    /// Skips a group in marks such as `<` and `>` that begins here, with all in it; the place of what is between them.
    pub fn group(&mut self) -> Result<(usize, usize)> {
        if !matches!(self.peek(), b'<' | b'(' | b'[' | b'{') {
            return Err(self.unexpected("`<`"));
        }
        let start = self.at;
        let mut depth = 0_usize;
        while self.at < self.end {
            match self.byte(0) {
                b'<' | b'(' | b'[' | b'{' => depth += 1,
                b'-' if self.byte(1) == b'>' => self.at += 1,
                b'>' | b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                b'"' => {
                    self.raw_string()?;
                    continue;
                }
                b'/' if self.byte(1) == b'/' => {
                    self.skip_line();
                    continue;
                }
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok((start + 1, self.at - 1));
            }
        }
        self.at = start;
        Err(self.fault((start, start + 1), "what opens here is not closed", "this one"))
    }

    /// The place between two bytes.
    pub fn span(&self, (start, end): (usize, usize)) -> Span {
        Span::new(self.file, start, end)
    }

    /// A fault of syntax at a place.
    pub fn fault(&self, place: (usize, usize), message: &str, label: &str) -> Diagnostic {
        Diagnostic::error(codes::SYNTAX, message).at(self.span(place), label)
    }

    /// The fault that something else is next.
    pub fn unexpected(&mut self, expected: &str) -> Diagnostic {
        self.skip();
        let length = match self.byte(0) {
            b'"' => 1,
            first if is_mark(first) => self.run(0, is_mark).len(),
            _ => self.slice(self.at, self.end).chars().next().map_or(0, char::len_utf8),
        };
        let place = (self.at, self.at + length);
        let found = match self.slice(place.0, place.1) {
            "" => "the end of the text".to_owned(),
            found => format!("`{found}`"),
        };
        self.fault(place, &format!("expected {expected}, found {found}"), "here")
    }
}

/// The first quote or backslash.
fn find_either(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|&byte| byte == b'"' || byte == b'\\')
}

/// Whether a byte may stand in words.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$')
}

/// Whether a byte may stand in names of values and functions.
fn is_mark(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(text: &str) -> Cursor<'_> {
        Cursor::new(text, FileId::of("a", text))
    }

    #[test]
    fn words_names_and_numbers_are_told_apart() {
        let mut text =
            cursor(" stablehlo.add %add.3, @main // aside\n /* and\n aside */ -12 0x1F \"a\\22b\" all-gather [");
        assert_eq!(text.word().unwrap(), "stablehlo.add");
        assert_eq!(text.name(b'%', "a value").unwrap(), "add.3");
        assert!(text.eat(b',') && !text.eat(b','));
        assert_eq!(text.name(b'@', "a function").unwrap(), "main");
        assert_eq!([text.integer().unwrap(), text.integer().unwrap()], [-12, 31]);
        assert_eq!(text.raw_string().unwrap(), "a\\22b");
        assert_eq!((text.peek_word(), text.peek_dashed()), ("all", "all-gather"));
        text.at += "all-gather".len();
        assert_eq!(text.word().unwrap_err().message(), "expected a word, found `[`");
    }

    #[test]
    fn groups_end_where_they_are_closed() {
        let mut text = cursor("<[\">\", a -> b], <c>> d <e");
        let (start, end) = text.group().unwrap();
        assert_eq!(text.slice(start, end), "[\">\", a -> b], <c>");
        assert_eq!(text.word().unwrap(), "d");
        assert!(text.group().is_err());
    }

    #[test]
    fn no_number_is_too_long_to_be_refused() {
        assert!(cursor("99999999999999999999").integer().unwrap_err().message().contains("64 bits"));
        assert!(cursor("-").integer().is_err() && cursor("").integer().is_err() && cursor("\"a").raw_string().is_err());
    }
}
