//! Changing texts: by bytes, words and lines, with what stands in others.

use super::{MOST, NUMBERS, Seeds, times};
use crate::random::Random;
use std::ops::Range;

/// Texts that readers trip over: controls, marks, wide and combined characters, broken UTF-8, brackets and quotes.
const ODD: [&[u8]; 26] = [
    b"\0",
    b"\x1b[31m",
    b"\x07",
    b"\r\n",
    b"\t",
    b"\xef\xbb\xbf",
    "\u{e9}".as_bytes(),
    "\u{1f9c2}".as_bytes(),
    "\u{202e}".as_bytes(),
    "e\u{301}".as_bytes(),
    "\u{2028}".as_bytes(),
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"(",
    b")",
    b"[",
    b"]",
    b"{",
    b"}",
    b"\"",
    b"'",
    b"//",
    b"#",
    b"-",
    b"1e999",
];

/// The parts of a text: words, runs of blanks, other bytes one by one.
pub(crate) fn tokens(text: &[u8]) -> Vec<Range<usize>> {
    let class = |byte: u8| match byte {
        byte if byte.is_ascii_alphanumeric() || byte == b'_' => 0,
        b' ' => 1,
        _ => 2,
    };
    let mut tokens: Vec<Range<usize>> = Vec::new();
    for (at, &byte) in text.iter().enumerate() {
        match tokens.last_mut() {
            Some(last) if class(byte) < 2 && class(text[last.start]) == class(byte) => last.end = at + 1,
            _ => tokens.push(at..at + 1),
        }
    }
    tokens
}

fn lines(text: &[u8]) -> Vec<Range<usize>> {
    let mut start = 0;
    let line = |line: &[u8]| {
        let range = start..start + line.len();
        start = range.end;
        range
    };
    text.split_inclusive(|&byte| byte == b'\n').map(line).collect()
}

/// A changed seed.
pub(crate) fn mutate(seeds: &Seeds, random: &mut Random) -> Vec<u8> {
    let mut text = seeds.input(random).to_vec();
    for _ in 0..times(random) {
        change(&mut text, seeds, random);
        text.truncate(MOST);
    }
    text
}

/// Changes a text once.
pub(crate) fn change(text: &mut Vec<u8>, seeds: &Seeds, random: &mut Random) {
    let parts = if random.once_in(3) { lines(text) } else { tokens(text) };
    if parts.is_empty() {
        text.extend_from_slice(seeds.word(random));
        return;
    }
    let range = random.range(parts.len(), 6);
    let (one, some) = (parts[range.start].clone(), parts[range.start].start..parts[range.end - 1].end);
    let place = parts[random.below(parts.len())].start;
    match random.below(13) {
        0 | 1 => replace(text, one, seeds.word(random)),
        2 => replace(text, some, b""),
        3 => {
            let copy = text[some].to_vec();
            replace(text, place..place, &copy);
        }
        4 => swap(text, &parts, random),
        5 | 6 => number(text, random),
        7 => {
            let copy = text[some.clone()].repeat(count(some.len(), random));
            replace(text, some, &copy);
        }
        8 => {
            let odd = random.pick(&ODD);
            let many = if random.once_in(4) { count(odd.len(), random) } else { 1 };
            replace(text, place..place, &odd.repeat(many));
        }
        9 => bytes(text, random),
        10 => text.truncate(place),
        _ => splice(text, some, seeds, random),
    }
}

/// The number of times to repeat so many bytes: a few, or until the input is full.
fn count(length: usize, random: &mut Random) -> usize {
    let most = MOST / length.max(1);
    [2, 3, 16, 100, 1000, most][random.below(6)].min(most)
}

fn replace(text: &mut Vec<u8>, range: Range<usize>, by: &[u8]) {
    text.splice(range, by.iter().copied());
}

fn swap(text: &mut Vec<u8>, parts: &[Range<usize>], random: &mut Random) {
    let mut pair = [random.below(parts.len()), random.below(parts.len())];
    pair.sort_unstable();
    let [first, second] = pair.map(|index| parts[index].clone());
    if first != second {
        let (early, late) = (text[first.clone()].to_vec(), text[second.clone()].to_vec());
        replace(text, second, &early);
        replace(text, first, &late);
    }
}

/// Puts another number where one stands.
fn number(text: &mut Vec<u8>, random: &mut Random) {
    let is_number = |token: &Range<usize>| text[token.clone()].iter().all(u8::is_ascii_digit);
    let all: Vec<Range<usize>> = tokens(text).into_iter().filter(is_number).collect();
    if all.is_empty() {
        return;
    }
    let place = random.pick(&all).clone();
    let near = || std::str::from_utf8(&text[place.clone()]).ok()?.parse::<i64>().ok()?.checked_add(1);
    let other = match random.below(3) {
        0 => near().unwrap_or_default(),
        1 => random.below(10) as i64,
        _ => *random.pick(&NUMBERS),
    };
    replace(text, place, other.to_string().as_bytes());
}

fn bytes(text: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(text.len());
    match random.below(3) {
        0 => text[at] ^= 1 << random.below(8),
        1 => text[at] = random.below(256) as u8,
        _ => text.insert(at, random.below(256) as u8),
    }
}

/// Puts a part of another seed in the place of a part of this one.
fn splice(text: &mut Vec<u8>, range: Range<usize>, seeds: &Seeds, random: &mut Random) {
    let other = seeds.input(random);
    let parts = if random.once_in(2) { lines(other) } else { tokens(other) };
    if parts.is_empty() {
        return;
    }
    let some = random.range(parts.len(), 12);
    let part = &other[parts[some.start].start..parts[some.end - 1].end];
    let range = if random.once_in(2) { range.start..range.start } else { range };
    replace(text, range, part);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_a_text() {
        let text = "fn a_1(x)  {\n\u{e9}}".as_bytes();
        for parts in [tokens(text), lines(text)] {
            assert_eq!(parts.iter().flat_map(|part| text[part.clone()].to_vec()).collect::<Vec<_>>(), text);
        }
        let words: Vec<&[u8]> = tokens(text)[..4].iter().map(|part| &text[part.clone()]).collect();
        assert_eq!(words, [&b"fn"[..], b" ", b"a_1", b"("]);
    }

    #[test]
    fn every_text_can_be_changed() {
        let seeds = Seeds::new([Vec::new(), b"a".to_vec(), b"x = 1\n".to_vec(), b"\xff\xff".to_vec()]);
        for number in 0..20_000 {
            assert!(mutate(&seeds, &mut Random::of(1, "test", number)).len() <= MOST);
        }
    }
}
