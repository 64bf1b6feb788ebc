//! All entries of a session.

use crate::entries::{blocks, builtins, composites, diagnostics, language, ops, passes, recipe};
use crate::entry::{Entry, Kind};
use crate::words::WORDS;
use halite::Session;
use halite_support::Result;

/// The entries of a session, kind after kind, each kind in the order of its registry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    entries: Vec<Entry>,
}

/// The most entries that are named beside one.
const RELATED: usize = 6;

/// A name without what tells the gradient of a composite, or the pass that recognizes it, from the composite.
fn stem(name: &str) -> &str {
    let name = name.strip_prefix("fuse-").unwrap_or(name);
    name.strip_suffix("_grad").unwrap_or(name)
}

impl Reference {
    /// The reference of what a session knows, with the commands of its program.
    ///
    /// # Errors
    /// When something of the session cannot be described: a sample is ill-typed, or its derivative or HLO cannot be made.
    pub fn of(session: &Session, commands: Vec<Entry>) -> Result<Self> {
        let mut entries = language::entries();
        entries.extend(builtins::entries());
        entries.extend(composites::entries(session)?);
        entries.extend(blocks::entries());
        entries.extend(recipe::entries(session));
        entries.extend(commands);
        entries.extend(ops::entries(session)?);
        entries.extend(passes::entries(session));
        entries.extend(diagnostics::entries());
        Ok(Self { entries })
    }

    /// All entries.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entries of a kind.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.kind == kind)
    }

    /// Entries that whoever reads one may want to read too: of the same name, and those that newcomers mean by the same words.
    pub fn related(&self, entry: &Entry) -> Vec<&Entry> {
        let label = entry.label();
        let beside = WORDS.iter().filter(|(_, labels)| labels.contains(&label.as_str()));
        let beside: Vec<&str> = beside.flat_map(|(_, labels)| labels.iter().copied()).collect();
        let is_related =
            |other: &&Entry| stem(&other.name) == stem(&entry.name) || beside.contains(&other.label().as_str());
        self.entries.iter().filter(|other| other.label() != label).filter(is_related).take(RELATED).collect()
    }

    /// The entry that others refer to by this label.
    pub fn labelled(&self, label: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.label() == label)
    }
}
