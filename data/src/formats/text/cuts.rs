//! Cuts of texts: between documents, and within documents that are too long for one block.

use crate::documents::Documents;

/// The next block of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cut {
    /// Bytes of the block.
    pub(crate) block: usize,
    /// Bytes until the text that follows, a separator included.
    pub(crate) consumed: usize,
    /// Whether the document ends here.
    pub(crate) last: bool,
}

/// The number of bytes before a document that belong to none.
pub(crate) fn blank_before(text: &[u8], documents: Documents) -> usize {
    match documents {
        Documents::File | Documents::Line => 0,
        Documents::Blank => lines(text).take_while(|line| is_blank(line)).map(<[u8]>::len).sum(),
    }
}

/// The first block of a text, of at most `most` bytes. `text` is the whole rest of the file, or more than `most` bytes of it.
pub(crate) fn first_block(text: &[u8], documents: Documents, most: usize) -> Cut {
    let head = &text[..text.len().min(most)];
    let is_all = head.len() == text.len();
    let end = match documents {
        Documents::File => None,
        Documents::Line => head.iter().position(|byte| *byte == b'\n').map(|end| (end, end + 1)),
        Documents::Blank => first_blank(head, is_all),
    };
    match end {
        Some((block, consumed)) => Cut { block: without_return(&text[..block]), consumed, last: true },
        None if is_all => Cut { block: head.len(), consumed: head.len(), last: true },
        None => {
            let block = within(text, head.len());
            Cut { block, consumed: block, last: false }
        }
    }
}

/// The place at or before `most` where a document is best cut: after a line break that no space follows, else between words,
/// else between characters.
fn within(text: &[u8], most: usize) -> usize {
    let is_space = |place: usize| text[place].is_ascii_whitespace();
    let after_line = |place: &usize| text[place - 1] == b'\n' && !is_space(*place);
    let between_words = |place: &usize| is_space(*place) && !is_space(place - 1);
    let between_characters = |place: &usize| text[*place] & 0xc0 != 0x80;
    let places = || (1..=most).rev();
    let found = places().find(after_line).or_else(|| places().find(between_words));
    found.or_else(|| places().find(between_characters)).unwrap_or(most)
}

/// The places around the first blank line after other text: the end of the document, and the end of that line. A line that may go on
/// behind the text counts only where `is_all` says that it does not.
fn first_blank(text: &[u8], is_all: bool) -> Option<(usize, usize)> {
    let mut start = 0;
    for line in lines(text) {
        let end = start + line.len();
        let is_whole = is_all || line.ends_with(b"\n");
        if start > 0 && is_whole && is_blank(line) {
            return Some((start - 1, end));
        }
        start = end;
    }
    None
}

/// The length of a text without the carriage return that ends it.
fn without_return(text: &[u8]) -> usize {
    text.strip_suffix(b"\r").unwrap_or(text).len()
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(mut text: &[u8], documents: Documents, most: usize) -> Vec<(String, bool)> {
        let mut blocks = Vec::new();
        let mut within = false;
        loop {
            if !within {
                text = &text[blank_before(text, documents)..];
            }
            if text.is_empty() && !within {
                return blocks;
            }
            let cut = first_block(text, documents, most);
            blocks.push((String::from_utf8(text[..cut.block].to_vec()).unwrap(), cut.last));
            (text, within) = (&text[cut.consumed..], !cut.last);
        }
    }

    fn texts(text: &str, documents: Documents, most: usize) -> Vec<(String, bool)> {
        blocks(text.as_bytes(), documents, most)
    }

    fn expected(blocks: &[(&str, bool)]) -> Vec<(String, bool)> {
        blocks.iter().map(|(text, last)| ((*text).to_owned(), *last)).collect()
    }

    #[test]
    fn documents_end_where_they_should() {
        let text = "\n\none\r\ntwo\n \t\n\nthree\n";
        let lines = [("", true), ("", true), ("one", true), ("two", true), (" \t", true), ("", true), ("three", true)];
        assert_eq!(texts(text, Documents::Line, 100), expected(&lines));
        assert_eq!(texts(text, Documents::Blank, 100), expected(&[("one\r\ntwo", true), ("three\n", true)]));
        assert_eq!(texts(text, Documents::File, 100), expected(&[(text, true)]));
    }

    #[test]
    fn long_documents_are_cut_at_line_breaks_then_spaces_then_characters() {
        assert_eq!(texts("ab\ncd ef", Documents::File, 6), expected(&[("ab\n", false), ("cd ef", true)]));
        assert_eq!(texts("ab\n cd ef", Documents::File, 7), expected(&[("ab\n cd", false), (" ef", true)]));
        assert_eq!(texts("ab cd ef", Documents::Line, 6), expected(&[("ab cd", false), (" ef", true)]));
        assert_eq!(texts("aäöü", Documents::File, 4), expected(&[("aä", false), ("öü", true)]));
        assert_eq!(texts("abcd\nx", Documents::Line, 4), expected(&[("abcd", false), ("", true), ("x", true)]));
    }
}
