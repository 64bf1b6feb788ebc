//! What is found by some words.

use crate::entry::Entry;
use crate::reference::Reference;
use crate::words::WORDS;
use halite_support::nearest::{nearest, nearest_first};

/// How well an entry fits, the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Fit {
    /// What newcomers mean by the words, in their order.
    Meant(usize),
    /// Its name.
    Name,
    /// The last part of its name, as `warmup` of `schedule.warmup`.
    LastPart,
    /// Another name.
    Alias,
    /// The beginning, or a part, of its name.
    PartOfName,
    /// Its name but for some letters.
    Near,
    /// All words stand in its summary.
    InSummary,
    /// All words stand in what it says.
    InBody,
}

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found<'r> {
    /// The entries, the best first.
    pub entries: Vec<&'r Entry>,
    /// Where nothing is named so, names that are most like it.
    pub near: Vec<&'r str>,
}

/// The most names that are suggested.
const SUGGESTED: usize = 3;

impl Reference {
    /// The entries that fit some words, the best first, equals in the order of the reference.
    pub fn search(&self, words: &str) -> Found<'_> {
        let wanted = normal(words);
        let near = self.near(&wanted);
        let mut found: Vec<(Fit, &Entry)> =
            self.entries().iter().filter_map(|entry| Some((fit(entry, &wanted, near)?, entry))).collect();
        found.sort_by_key(|(fit, _)| *fit);
        let entries: Vec<&Entry> = found.into_iter().map(|(_, entry)| entry).collect();
        let names = self.entries().iter().map(|entry| entry.name.as_str());
        let near = if entries.is_empty() { nearest_first(&wanted, names) } else { Vec::new() };
        Found { entries, near: near.into_iter().take(SUGGESTED).collect() }
    }

    /// The name or alias that is most like the words, where none is the same.
    fn near(&self, wanted: &str) -> Option<&str> {
        let names = || self.entries().iter().flat_map(names);
        if names().any(|name| normal(name) == wanted) {
            return None;
        }
        nearest(wanted, names())
    }
}

/// All that an entry is called.
fn names(entry: &Entry) -> impl Iterator<Item = &str> {
    std::iter::once(entry.name.as_str()).chain(entry.aliases.iter().map(String::as_str))
}

/// Words in small letters with single spaces, `-` and `_` being spaces too.
pub(crate) fn normal(text: &str) -> String {
    let spaced = text.to_lowercase().replace(['-', '_'], " ");
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn fit(entry: &Entry, wanted: &str, near: Option<&str>) -> Option<Fit> {
    if wanted.is_empty() {
        return None;
    }
    let label = entry.label();
    let meant = WORDS.iter().find(|(word, _)| normal(word) == wanted);
    if let Some(at) = meant.and_then(|(_, labels)| labels.iter().position(|own| *own == label)) {
        return Some(Fit::Meant(at));
    }
    let name = normal(&entry.name);
    let is_alias = |alias: &String| normal(alias) == wanted;
    let fits = [
        (Fit::Name, name == wanted),
        (Fit::LastPart, name.rsplit('.').next() == Some(wanted)),
        (Fit::Alias, entry.aliases.iter().any(is_alias)),
        (Fit::PartOfName, name.starts_with(wanted) || holds(&name, wanted)),
        (Fit::Near, near.is_some_and(|near| names(entry).any(|own| own == near))),
        (Fit::InSummary, holds(&normal(&entry.summary), wanted)),
        (Fit::InBody, holds(&normal(&entry.body), wanted)),
    ];
    fits.into_iter().find(|(_, is_so)| *is_so).map(|(fit, _)| fit)
}

/// Whether all words stand in a text as whole words.
fn holds(text: &str, words: &str) -> bool {
    let is_mark = |character: char| !character.is_alphanumeric();
    words.split(' ').all(|word| text.split(is_mark).any(|own| own == word))
}
