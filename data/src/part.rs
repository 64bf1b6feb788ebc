//! Shares of files, such as all but what is held out.

use crate::documents::Documents;
use crate::files::Origin;
use halite_disk::Readable;
use halite_support::files::cannot;
use halite_support::{Diagnostic, Result, codes};
use std::io::Read;
use std::ops::Range;

/// The farthest that a cut in running text is moved, in bytes, to stand between words.
const NEAR: u64 = 4096;

/// A share of each file, from and to; between 0 and 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Part {
    from: f64,
    to: f64,
}

impl Part {
    /// The whole.
    pub(crate) const ALL: Self = Self { from: 0.0, to: 1.0 };

    /// Reads `0..0.9`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let numbers = text.split_once("..").and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
        match numbers {
            Some((from, to)) if 0.0 <= from && from < to && to <= 1.0 => Ok(Self { from, to }),
            _ => {
                let message = format!("the part `{text}` is no share of a file, expected two numbers from 0 to 1");
                Err(Diagnostic::error(codes::RECIPE_RANGE, message)
                    .help("write the start before the end, as in `part = \"0..0.9\"`"))
            }
        }
    }

    /// The share of so many tokens.
    pub(crate) fn of(self, length: u64) -> Range<u64> {
        let at = |share: f64| (length as f64 * share).round() as u64;
        at(self.from)..at(self.to).min(length)
    }

    /// The share of a text file in bytes, moved on to where a document begins; in a file that is one document, to where a
    /// word ends.
    pub(crate) fn of_text(self, origin: &Origin, documents: Documents) -> Result<Range<u64>> {
        let fault = |error: std::io::Error| cannot("read", &origin.path, &error);
        let file = origin.open()?;
        let length = file.size().map_err(fault)?;
        let Range { start, end } = self.of(length);
        let moved = |at| if at == 0 || at >= length { Ok(at) } else { cut_near(&file, at, documents) };
        Ok(moved(start).map_err(fault)?..moved(end).map_err(fault)?)
    }
}

/// The first place at or after a byte where a text may be cut.
fn cut_near(file: &Readable, at: u64, documents: Documents) -> std::io::Result<u64> {
    let bytes = std::io::BufReader::new(file.clone().at(at - 1)).bytes();
    match documents {
        Documents::File => between_words(bytes.take(NEAR as usize), at),
        Documents::Line => after_line(bytes, at, |_| true),
        Documents::Blank => after_line(bytes, at, |line| line.is_blank && line.is_whole),
    }
}

/// Before the first space from byte `at` on; where there is none nearby, before the next character. `bytes` begin one earlier.
fn between_words(bytes: impl Iterator<Item = std::io::Result<u8>>, at: u64) -> std::io::Result<u64> {
    let mut boundary = None;
    for (place, byte) in (at..).zip(bytes.skip(1)) {
        match byte? {
            byte if byte.is_ascii_whitespace() => return Ok(place),
            byte if byte & 0xc0 != 0x80 => boundary = boundary.or(Some(place)),
            _ => {}
        }
    }
    Ok(boundary.unwrap_or(at))
}

/// A line that was read.
struct Line {
    is_blank: bool,
    /// Whether it was read from its begin.
    is_whole: bool,
}

/// After the first line that ends a document, of those that end at or after the byte before `at`; else the end of the text.
fn after_line(
    bytes: impl Iterator<Item = std::io::Result<u8>>,
    at: u64,
    ends: impl Fn(&Line) -> bool,
) -> std::io::Result<u64> {
    let mut line = Line { is_blank: true, is_whole: false };
    let mut place = at - 1;
    for byte in bytes {
        let byte = byte?;
        place += 1;
        if byte != b'\n' {
            line.is_blank &= byte.is_ascii_whitespace();
        } else if ends(&line) {
            return Ok(place);
        } else {
            line = Line { is_blank: true, is_whole: true };
        }
    }
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str, documents: Documents, share: f64) -> (String, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.txt");
        std::fs::write(&path, text).unwrap();
        let part = |from, to| {
            let origin = Origin { path: path.clone(), disk: halite_disk::Disk::default() };
            let Range { start, end } = Part { from, to }.of_text(&origin, documents).unwrap();
            text[start as usize..end as usize].to_owned()
        };
        (part(0.0, share), part(share, 1.0))
    }

    #[test]
    fn parts_meet_where_documents_do() {
        for (documents, ends) in [(Documents::Line, "\n"), (Documents::Blank, "\n\n"), (Documents::File, "")] {
            let text = "one two\nthree\n\nfour ö\nfive\n\nsix\n\n";
            for hundredths in 0..=100 {
                let (first, second) = parts(text, documents, f64::from(hundredths) / 100.0);
                assert_eq!(format!("{first}{second}"), text);
                assert!(first.is_empty() || first.ends_with(ends), "{documents:?} {first:?}");
                let in_word = first.ends_with(char::is_alphabetic) && second.starts_with(char::is_alphabetic);
                assert!(!in_word, "{documents:?} {first:?}");
            }
        }
        assert_eq!(parts("äöüä", Documents::File, 0.4), ("äö".into(), "üä".into()));
    }

    #[test]
    fn other_texts_are_no_shares() {
        for wrong in ["", "0.5", "0.5..0.5", "0.9..0.1", "0..1.1", "-1..1", "NaN..1", "a..b"] {
            assert!(Part::parse(wrong).unwrap_err().message().contains("is no share"), "{wrong}");
        }
        assert_eq!(Part::parse("0..0.9").unwrap().of(101), 0..91);
    }
}
