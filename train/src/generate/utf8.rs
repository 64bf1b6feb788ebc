//! Bytes that come little by little, as text.

/// Takes bytes as they come, and gives their text as soon as its characters are whole. What is no UTF-8 becomes `U+FFFD`.
#[derive(Clone, Debug, Default)]
pub struct Utf8Stream {
    /// The beginning of a character.
    held: Vec<u8>,
}

impl Utf8Stream {
    /// The text that is whole with these bytes.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.held.extend(bytes);
        let (mut text, mut rest) = (String::new(), 0);
        for chunk in self.held.utf8_chunks() {
            text.push_str(chunk.valid());
            rest += chunk.valid().len();
            let is_last = rest + chunk.invalid().len() == self.held.len();
            if chunk.invalid().is_empty() || (is_last && is_begin(chunk.invalid())) {
                break;
            }
            text.push(char::REPLACEMENT_CHARACTER);
            rest += chunk.invalid().len();
        }
        self.held.drain(..rest);
        text
    }

    /// What is left at the end: a character that never became whole.
    pub fn finish(self) -> String {
        String::from_utf8_lossy(&self.held).into_owned()
    }
}

/// Whether bytes are the beginning of a character.
fn is_begin(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_as_soon_as_it_is_whole_and_is_that_of_all_bytes() {
        let bytes = b"a\xc3\xa9\xe2\x82\xac\xff\xf0\x9f\x98\x80\xe2\x82x\xc3\xc3\xa9\xf0\x9f";
        let mut stream = Utf8Stream::default();
        let pieces: Vec<String> = bytes.iter().map(|&byte| stream.push(&[byte])).collect();
        assert_eq!(pieces[..4], ["a", "", "é", ""]);
        assert_eq!(pieces.concat() + &stream.finish(), String::from_utf8_lossy(bytes));
        let mut at_once = Utf8Stream::default();
        assert_eq!(at_once.push(bytes) + &at_once.finish(), String::from_utf8_lossy(bytes));
    }
}
