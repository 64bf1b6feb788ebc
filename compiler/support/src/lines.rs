//! The places of lines in a text, so that a position is found without reading the text from its start.

/// Bytes between marks.
const APART: usize = 1024;

/// A line and column, both counted from 1; columns count characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// The position of every 1024th byte. Looking something up reads that many bytes at most, however long the text or its
/// lines are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Lines {
    /// The position of byte `index * APART`.
    marks: Vec<Position>,
}

impl Lines {
    pub(crate) fn of(text: &str) -> Self {
        let mut at = Position { line: 1, column: 1 };
        let mut marks = Vec::with_capacity(text.len() / APART + 1);
        for part in text.as_bytes().chunks(APART) {
            marks.push(at);
            at = part.iter().fold(at, after);
        }
        if text.len().is_multiple_of(APART) {
            marks.push(at);
        }
        Self { marks }
    }

    /// The position of a byte; of the end of `text` for those beyond it, of its first byte for one inside a character.
    pub(crate) fn position(&self, text: &str, byte: usize) -> Position {
        let byte = floor(text, byte);
        let index = byte / APART;
        text.as_bytes()[index * APART..byte].iter().fold(self.marks[index], after)
    }

    /// The first byte of a line, counted from 1, if there are so many.
    pub(crate) fn start(&self, text: &str, line: usize) -> Option<usize> {
        if line == 1 {
            return Some(0);
        }
        let index = self.marks.partition_point(|mark| mark.line < line).checked_sub(1)?;
        let part = text.as_bytes()[index * APART..].iter().take(APART).enumerate();
        let mut starts = part.filter(|(_, byte)| **byte == b'\n').map(|(offset, _)| index * APART + offset + 1);
        starts.nth(line - self.marks[index].line - 1)
    }
}

/// The position after a byte at `at`. Columns count characters, of which the first byte is no continuation.
fn after(at: Position, byte: &u8) -> Position {
    match byte {
        b'\n' => Position { line: at.line + 1, column: 1 },
        0x80..0xc0 => at,
        _ => Position { column: at.column + 1, ..at },
    }
}

/// The first byte of the character that a byte belongs to, or the end of the text.
fn floor(text: &str, byte: usize) -> usize {
    let mut byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    byte
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, which reads the text from its start.
    fn position(text: &str, byte: usize) -> Position {
        let before = &text[..floor(text, byte)];
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Position { line: before.matches('\n').count() + 1, column }
    }

    #[test]
    fn marks_change_no_position() {
        let long = "wörter 中文 \u{1f600}".repeat(300);
        let texts =
            ["", "\n", "one\ntwö x\n", &long, &format!("{long}\n\n{long}\n"), &"\n".repeat(2500), &"a\n".repeat(512)];
        for text in texts {
            let lines = Lines::of(text);
            for byte in (0..text.len() + 3).filter(|byte| byte % 7 == 0 || byte % APART < 9 || byte + 9 > text.len()) {
                assert_eq!(lines.position(text, byte), position(text, byte), "byte {byte} of {} ", text.len());
            }
            let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
            for (index, start) in starts.enumerate() {
                assert_eq!(lines.start(text, index + 1), Some(start));
            }
            assert_eq!(lines.start(text, text.matches('\n').count() + 2), None);
            assert_eq!(lines.start(text, 0), None);
        }
    }
}
