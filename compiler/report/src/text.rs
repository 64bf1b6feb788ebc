//! Text of others on a terminal: what it obeys or hides is spelled out, and lines end between words.

use halite_support::text::is_hidden;
use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// JSON with what is hidden spelled out in its way, which changes no value.
pub fn visible_json(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for character in json.chars() {
        if is_hidden(character) {
            let units =
                character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
            shown.push_str(&units);
        } else {
            shown.push(character);
        }
    }
    shown
}

/// The columns that a text takes on a terminal.
pub fn columns(text: &str) -> usize {
    display_width(text)
}

/// A text in lines of at most `width` columns, all but the first after `indent`. Lines end at spaces only, never inside a
/// word or between a number and its unit, so that what is longer than a line stays whole.
pub fn wrap(text: &str, width: usize, indent: &str) -> String {
    let options = Options::new(width)
        .subsequent_indent(indent)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::fill(&joined(text), options).replace(JOINT, " ")
}

/// Stands for a space at which no line ends.
const JOINT: char = '\u{e000}';

/// The units of numbers.
const UNITS: [&str; 17] =
    ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "k", "M", "G", "T", "P", "E", "ms", "s", "min", "h", "times"];

/// Text with a [`JOINT`] between each number and its unit.
fn joined(text: &str) -> String {
    let is_number = |word: &str| {
        let digits = word.trim_start_matches(['(', '-', '+']);
        digits.starts_with(|first: char| first.is_ascii_digit())
            && digits.chars().all(|character| character.is_ascii_digit() || ".,".contains(character))
    };
    let is_unit = |word: &str| UNITS.contains(&word.trim_end_matches([',', '.', ';', ':', ')', '\n']));
    let mut words = text.split(' ').peekable();
    let mut joined = String::with_capacity(text.len());
    while let Some(word) = words.next() {
        joined.push_str(word);
        if let Some(next) = words.peek() {
            joined.push(if is_number(word) && is_unit(next) { JOINT } else { ' ' });
        }
    }
    joined
}

/// A name in at most `width` columns, without its middle where it is longer.
pub fn shortened(name: &str, width: usize) -> String {
    if columns(name) <= width {
        return name.to_owned();
    }
    let room = width.saturating_sub(1);
    let head = fitting(name.chars(), room.div_ceil(2));
    let tail: String = fitting(name.chars().rev(), room / 2).chars().rev().collect();
    format!("{head}…{tail}")
}

/// The first characters that take at most `width` columns.
fn fitting(characters: impl Iterator<Item = char>, width: usize) -> String {
    let mut shown = String::new();
    let mut taken = 0;
    for character in characters {
        taken += columns(character.encode_utf8(&mut [0; 4]));
        if taken > width {
            break;
        }
        shown.push(character);
    }
    shown
}
