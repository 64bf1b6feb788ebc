//! Texts that are kept beside the tests.

pub(crate) mod alike;

use alike::renamed;
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
