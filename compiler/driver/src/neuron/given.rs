//! The flags of a recipe, as `neuronx-cc` would read them.

use halite_spec::target::CompilerFlag;
use halite_target::Tables;

/// A flag of a recipe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given<'a> {
    /// The position of its first entry.
    pub(super) entry: usize,
    /// Its entries.
    pub(crate) written: &'a [String],
    /// Its name as written.
    pub(crate) name: &'a str,
    /// Its value, behind `=`, as the next entry, or behind the name of a short flag.
    pub(super) value: Option<&'a str>,
    /// The flag, if the tables know it.
    pub(super) flag: Option<&'static CompilerFlag>,
}

/// Reads the entries of a recipe's flags. What does not start with a dash is the value of a flag that takes one, or of one
/// that is not known; else it stands alone.
pub(crate) fn read(entries: &[String]) -> Vec<Given<'_>> {
    let mut read = Vec::new();
    let mut entry = 0;
    while entry < entries.len() {
        let mut given = read_one(entry, &entries[entry..=entry]);
        let follows = |next: &&String| !next.starts_with('-') && given.takes_the_next();
        if let Some(next) = entries.get(entry + 1).filter(follows) {
            given.value = Some(next);
            given.written = &entries[entry..entry + 2];
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

    fn takes_the_next(&self) -> bool {
        !self.is_stray() && self.value.is_none() && self.flag.is_none_or(CompilerFlag::has_value)
    }

    /// Its key in the recipe.
    pub(super) fn key(&self) -> String {
        format!("neuron.flags.{}", self.entry)
    }

    /// The flag as the manifest writes it, if it is known: its own name, then `=` and the value.
    pub(crate) fn spelled(&self) -> Option<String> {
        self.flag.map(|flag| spell(flag, self.value))
    }
}

/// A flag as the manifest writes it.
pub(super) fn spell(flag: &CompilerFlag, value: Option<&str>) -> String {
    value.map_or_else(|| flag.name.clone(), |value| format!("{}={value}", flag.name))
}
