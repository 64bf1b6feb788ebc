//! Strings, and texts of JSON as they are.

use super::reader::Reader;
use crate::proto::FrontendAttributes;
use halite_support::Result;

impl Reader<'_> {
    /// A string in quotes.
    pub(super) fn string(&mut self) -> Result<String> {
        let raw = self.cursor.raw_string()?;
        Ok(if raw.contains('\\') { String::from_utf8_lossy(&unescaped(raw)).into_owned() } else { raw.to_owned() })
    }

    /// A string in quotes, or an object of JSON with its braces.
    pub(super) fn string_or_object(&mut self) -> Result<String> {
        if self.cursor.peek() != b'{' {
            return self.string();
        }
        let start = self.cursor.at;
        let mut depth = 0_usize;
        while let Some(&byte) = self.cursor.rest().first() {
            match byte {
                b'"' => {
                    self.cursor.raw_string()?;
                    continue;
                }
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => {}
            }
            self.cursor.at += 1;
            if depth == 0 {
                return Ok(self.cursor.slice(start, self.cursor.at).to_owned());
            }
        }
        Err(self.cursor.fault((start, start + 1), "what opens here is not closed", "this one"))
    }

    /// `{key="value",key={"a":1}}`; `None` where it is empty.
    pub(super) fn frontend_attributes(&mut self) -> Result<Option<FrontendAttributes>> {
        let mut attributes = FrontendAttributes::default();
        self.cursor.expect(b'{')?;
        self.separated(b'}', |reader| {
            let start = reader.cursor.at_next();
            let key = reader.key()?.to_owned();
            let place = (start, reader.cursor.at);
            reader.cursor.expect(b'=')?;
            let value = reader.string_or_object()?;
            if attributes.map.insert(key, value).is_some() {
                return Err(reader.misfit(place, "the attribute is given twice"));
            }
            Ok(())
        })?;
        Ok(Some(attributes).filter(|attributes| !attributes.map.is_empty()))
    }

    /// All up to `=`.
    fn key(&mut self) -> Result<&str> {
        let start = self.cursor.at_next();
        let rest = self.cursor.rest();
        let length = rest.iter().position(|byte| b"=,{}\"\n".contains(byte)).unwrap_or(rest.len());
        if length == 0 {
            return Err(self.cursor.unexpected("the name of an attribute"));
        }
        self.cursor.at = start + length;
        Ok(self.cursor.slice(start, self.cursor.at).trim_end())
    }
}

/// The bytes of a string in which `\` begins what C's literals have: letters, and up to three octal or two hexadecimal digits.
fn unescaped(raw: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'\\' {
            bytes.push(first);
            continue;
        }
        let Some((&letter, after)) = rest.split_first() else { break };
        let (byte, taken) = match letter {
            b'n' => (b'\n', 1),
            b'r' => (b'\r', 1),
            b't' => (b'\t', 1),
            b'a' => (7, 1),
            b'b' => (8, 1),
            b'f' => (12, 1),
            b'v' => (11, 1),
            b'0'..=b'7' => digits(rest, 8, 3),
            b'x' | b'X' => match digits(after, 16, 2) {
                (_, 0) => (letter, 1),
                (byte, taken) => (byte, taken + 1),
            },
            other => (other, 1),
        };
        bytes.push(byte);
        rest = rest.get(taken..).unwrap_or_default();
    }
    bytes
}

/// The number that digits at the begin are, and how many they are.
fn digits(bytes: &[u8], radix: u32, most: usize) -> (u8, usize) {
    let values = bytes.iter().take(most).map_while(|&byte| char::from(byte).to_digit(radix));
    values.fold((0, 0), |(number, taken), digit| ((number as u32 * radix + digit) as u8, taken + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_those_of_c() {
        assert_eq!(unescaped(r#"a\"b\\\n\'c\303\251\x41\x"#), b"a\"b\\\n'c\xc3\xa9Ax");
    }
}
