//! Values of attributes that are not kept.

use super::reader::Reader;
use halite_support::Result;

impl Reader<'_> {
    /// Goes behind a value: up to a comma, a mark that closes what is around it, or the end of the line.
    pub(super) fn skip_value(&mut self) -> Result<()> {
        let start = self.cursor.at_next();
        let mut depth = 0_usize;
        while let Some(&byte) = self.cursor.rest().first() {
            match byte {
                b'"' => {
                    self.cursor.raw_string()?;
                    continue;
                }
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' if depth > 0 => depth -= 1,
                b',' | b')' | b']' | b'}' | b'\n' if depth == 0 => break,
                _ => {}
            }
            self.cursor.at += 1;
        }
        match depth {
            0 if self.cursor.at > start => Ok(()),
            0 => Err(self.cursor.unexpected("a value")),
            _ => Err(self.cursor.fault((start, start + 1), "what opens here is not closed", "this value")),
        }
    }
}
