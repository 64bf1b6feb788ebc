//! Texts that are kept beside the tests.

use std::path::Path;

/// Holds a text to the file of this name; with `HALITE_BLESS` in the environment it is written there first.
pub(crate) fn assert_written(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
    if std::env::var_os("HALITE_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(path).unwrap();
    let differing = text.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
    assert_eq!(differing, None);
    assert_eq!(text.len(), expected.len());
}

/// Holds two texts to be the same, whatever their values and places are called.
pub(crate) fn assert_alike(expected: &str, found: &str) {
    let (expected, found) = (renamed(expected), renamed(found));
    let differing = expected.lines().zip(found.lines()).find(|(expected, found)| expected != found);
    assert_eq!(differing, None);
    assert_eq!(expected.len(), found.len());
}

/// A text whose values are numbered in the order in which they are first named, without locations.
fn renamed(text: &str) -> String {
    let mut numbers = std::collections::BTreeMap::new();
    let (mut renamed, mut next) = (String::new(), 0);
    let lines = text.lines().filter(|line| !line.starts_with("#loc"));
    for line in lines.map(without_locations) {
        let (is_block, is_value) = (line.trim_start().starts_with('^'), line.trim_start().starts_with('%'));
        let mut parts = line.split('%');
        renamed.extend(parts.next());
        for (at, part) in parts.enumerate() {
            let end = part.find(|c: char| !(c.is_ascii_alphanumeric() || "._-$".contains(c))).unwrap_or(part.len());
            let (name, rest) = part.split_at(end);
            // What combines is written out at each of its uses, and may be one computation or several.
            if is_block || is_value && at == 0 || !numbers.contains_key(name) {
                next += 1;
                numbers.insert(name.to_owned(), next);
            }
            renamed.push_str(&format!("%{}{rest}", numbers[name]));
        }
        renamed.push('\n');
    }
    renamed
}

/// A line without ` loc(#loc3)`.
fn without_locations(line: &str) -> String {
    let mut parts = line.split(" loc(");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |line, part| line + part.split_once(')').map_or("", |(_, rest)| rest))
}
