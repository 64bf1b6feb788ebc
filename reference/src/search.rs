//! Search of entries by words.

use crate::entry::Entry;
use crate::reference::Reference;
use crate::words::{NOTES, WORDS};
use halite_support::nearest::nearest;

/// How an entry matches the words, the best match first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Fit {
    /// [`WORDS`] has its label for these words, at this position.
    Meant(usize),
    /// Its name.
    Name,
    /// The last part of its name, as `warmup` of `schedule.warmup`.
    LastPart,
    /// Another name.
    Alias,
    /// The beginning, or a part, of its name.
    PartOfName,
}

/// The result of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found<'r> {
    /// A note on what Halite has instead, for some words of newcomers.
    pub note: Option<&'static str>,
    /// The entries that are called so, the best first.
    pub entries: Vec<&'r Entry>,
    /// Where there are no entries, those that mention the words, those first that do in their summary.
    pub mentions: Vec<&'r Entry>,
    /// Where there are no entries, the nearest name, which differs in some letters.
    pub near: Option<&'r str>,
}

impl Reference {
    /// The entries that fit some words, the best first, equals in the order of the reference.
    pub fn search(&self, words: &str) -> Found<'_> {
        let wanted = normal(words);
        let mut found: Vec<(Fit, &Entry)> =
            self.entries().iter().filter_map(|entry| Some((fit(entry, &wanted)?, entry))).collect();
        found.sort_by_key(|(fit, _)| *fit);
        let entries: Vec<&Entry> = found.into_iter().map(|(_, entry)| entry).collect();
        let note = NOTES.iter().find(|(word, _)| normal(word) == wanted).map(|(_, note)| *note);
        if !entries.is_empty() || wanted.is_empty() {
            return Found { note, entries, mentions: Vec::new(), near: None };
        }
        let speak = |text: &dyn Fn(&Entry) -> String| {
            self.entries().iter().filter(|entry| holds(&normal(&text(entry)), &wanted)).collect::<Vec<_>>()
        };
        let mut mentions = speak(&|entry| entry.summary.clone());
        let mut in_body = speak(&|entry| entry.body.clone());
        in_body.retain(|entry| !mentions.iter().any(|own| std::ptr::eq(*own, *entry)));
        mentions.extend(in_body);
        Found { note, entries, mentions, near: self.near(&wanted) }
    }

    /// The name or alias that is the words but for some letters.
    fn near(&self, wanted: &str) -> Option<&str> {
        nearest(wanted, self.entries().iter().flat_map(names))
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

fn fit(entry: &Entry, wanted: &str) -> Option<Fit> {
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
    ];
    fits.into_iter().find(|(_, is_so)| *is_so).map(|(fit, _)| fit)
}

/// Whether all words stand in a text as whole words.
fn holds(text: &str, words: &str) -> bool {
    let is_mark = |character: char| !character.is_alphanumeric();
    words.split(' ').all(|word| text.split(is_mark).any(|own| own == word))
}
