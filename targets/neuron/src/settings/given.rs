//! The flags of a recipe, as `neuronx-cc` would read them.

use crate::Tables;
use crate::tables::CompilerFlag;

/// A flag of a recipe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given<'a> {
    /// The position of its first entry.
    pub(super) entry: usize,
    pub(crate) written: &'a [String],
    /// Its name as written.
    pub(crate) name: &'a str,
    /// Its value, behind `=`, as the next entry, or behind the name of a short flag; the first where it has several.
    pub(super) value: Option<&'a str>,
    /// The flag, if the tables know it.
    pub(super) flag: Option<&'static CompilerFlag>,
}

/// Reads the entries of a recipe's flags. A word without a dash at its start is the value of the flag before it, if that takes one or
/// is not known; else it stands alone. A flag that takes several values has all words that follow it.
pub(crate) fn read(entries: &[String]) -> Vec<Given<'_>> {
    let mut read = Vec::new();
    let mut entry = 0;
    while entry < entries.len() {
        let mut given = read_one(entry, &entries[entry..=entry]);
        let following = entries[entry + 1..].iter().take_while(|next| !next.starts_with('-'));
        let count = following.take(given.takes_of_the_next()).count();
        if count > 0 {
            given.value = Some(&entries[entry + 1]);
            given.written = &entries[entry..=entry + count];
        }
        entry += given.written.len();
        read.push(given);
    }
    read
}

fn read_one(entry: usize, written: &[String]) -> Given<'_> {
    let tables = Tables::builtin();
    let text = written[0].as_str();
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
    if let Some(flag) = tables.flag(name) {
        return Given { entry, written, name, value, flag: Some(flag) };
    }
    // A flag of one dash and one letter takes its value without a space too, as in `-O1`.
    let short = text.char_indices().nth(2).filter(|_| !text.starts_with("--")).map(|(at, _)| text.split_at(at));
    match short.and_then(|(name, value)| Some((name, value, tables.flag(name)?))) {
        Some((name, value, flag)) => Given { entry, written, name, value: Some(value), flag: Some(flag) },
        None => Given { entry, written, name, value, flag: None },
    }
}

impl Given<'_> {
    /// Whether it is a word that belongs to no flag.
    pub(super) fn is_stray(&self) -> bool {
        !self.name.starts_with('-')
    }

    /// The number of following entries that can be its values.
    fn takes_of_the_next(&self) -> usize {
        match self.flag {
            _ if self.is_stray() || self.value.is_some() => 0,
            Some(flag) if flag.words => usize::MAX,
            Some(flag) => usize::from(flag.has_value()),
            None => 1,
        }
    }

    /// Its key in the recipe.
    pub(super) fn key(&self) -> String {
        format!("neuron.flags.{}", self.entry)
    }

    /// The flag as the manifest writes it: its own name, then `=` and the value; as written where the tables do not know it
    /// or its values are words of their own.
    pub(crate) fn spelled(&self) -> Vec<String> {
        match self.flag {
            Some(flag) if !flag.words => vec![spell(flag, self.value)],
            _ => self.written.to_vec(),
        }
    }
}

/// A flag as the manifest writes it.
pub(super) fn spell(flag: &CompilerFlag, value: Option<&str>) -> String {
    value.map_or_else(|| flag.name.clone(), |value| format!("{}={value}", flag.name))
}
