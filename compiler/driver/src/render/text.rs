//! Text of others on a terminal: what it obeys or hides is spelled out, and lines end between words.

use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// Whether a terminal obeys a character, shows nothing in its place, or shows what follows in another order: controls (C0 and
/// C1), and what Unicode calls default ignorable or bidirectional controls.
pub(crate) fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Text with what is hidden spelled out, `\u{1b}`; line ends stay.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => shown.push('\n'),
            hidden if is_hidden(hidden) => shown.extend(hidden.escape_unicode()),
            plain => shown.push(plain),
        }
    }
    shown
}

/// The same on one line: line ends and tabs become spaces.
pub fn plain(text: &str) -> String {
    visible(&text.replace(['\n', '\r', '\t'], " "))
}

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

/// What follows a number as its unit.
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
