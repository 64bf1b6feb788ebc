//! The chapters on the language, one for each heading of `docs/language/`.

use crate::entry::{Entry, Kind};
use halite_support::doc::first_sentence;

/// The files in the order in which they are read.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        /// The texts of the files, each with its name.
        pub(crate) const FILES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../docs/language/", $name, ".md")))),*];
    };
}

files!["syntax", "parameters", "functions", "libraries", "tensors", "batches", "models"];

pub(crate) fn entries() -> Vec<Entry> {
    FILES.iter().flat_map(|(file, text)| chapters(file, text)).collect()
}

/// The parts of a file after `## ` headings, without the links at its end.
fn chapters(file: &'static str, text: &'static str) -> impl Iterator<Item = Entry> {
    text.split("\n## ").skip(1).filter(|part| !part.starts_with("Next\n")).map(move |part| {
        let (name, body) = part.split_once('\n').unwrap_or((part, ""));
        let body = body.trim();
        let opening = body.split("\n\n").next().unwrap_or_default().replace('\n', " ");
        let entry = Entry::new(Kind::Language, name.trim().to_lowercase(), first_sentence(&opening), body);
        Entry { file, ..entry }
    })
}
