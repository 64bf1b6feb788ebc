//! The places of a recipe's entries in its texts.

use halite_support::{Diagnostic, Diagnostics, FileId, Span, codes, sort_by_place};
use indexmap::IndexMap;

/// The span of each entry of a recipe by its dotted path; entries of lists are named by their position from 0.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Places {
    pub(crate) entries: IndexMap<String, Span>,
    /// The texts that the entries are read from, in this order.
    pub(crate) texts: Vec<FileId>,
    /// Keys that the texts state by old names: the old one, the new one and the value that was read.
    pub(crate) renamed: Vec<(&'static str, &'static str, String)>,
    /// The notice of the settings that were lost where one update rule took the place of another.
    pub(crate) replaced: Option<Diagnostic>,
}

impl Places {
    /// The span of the entry of a path, e.g. `optimizer.adamw.lr`; `None` when the recipe leaves it out.
    pub fn get(&self, path: &str) -> Option<Span> {
        self.entries.get(path).copied()
    }

    /// Adds the span of an entry that the recipe leaves out and another file states.
    pub fn add(&mut self, path: String, place: Span) {
        self.entries.entry(path).or_insert(place);
        if !self.texts.contains(&place.file) {
            self.texts.push(place.file);
        }
    }

    /// Drops the entries of a text that nobody wrote, so that no diagnostic points at them.
    pub fn forget(&mut self, text: FileId) {
        self.entries.retain(|_, place| place.file != text);
        self.texts.retain(|file| *file != text);
    }

    /// The span of an entry, or else of the innermost table or list that would hold it.
    pub fn nearest(&self, path: &str) -> Option<Span> {
        self.get(path).or_else(|| self.nearest(path.rsplit_once('.')?.0))
    }

    /// The texts that the recipe was read from, in this order: the recipe, one laid over it, each override, a `config.json`.
    pub fn texts(&self) -> &[FileId] {
        &self.texts
    }

    /// The diagnostics on how the texts were read: a warning for each key that is stated by an old name, and a notice of the settings
    /// that are lost where an override chose another update rule than the recipe.
    pub fn told(&self) -> impl Iterator<Item = Diagnostic> + '_ {
        let renamed = self.renamed.iter().filter_map(|(old, new, value)| {
            let message = format!("the key `{old}` is called `{new}` now");
            let warning = Diagnostic::warning(codes::RECIPE_KEY, message);
            Some(
                warning
                    .at(self.get(new)?, format!("read as `{new} = {value}`"))
                    .help(format!("write `{new} = {value}`")),
            )
        });
        renamed.chain(self.replaced.clone())
    }

    /// Fails with the mistakes, in the order of the texts, if there are any.
    pub(crate) fn refuse(&self, mut mistakes: Diagnostics) -> Result<(), Diagnostics> {
        sort_by_place(&mut mistakes, &self.texts);
        if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
    }
}
