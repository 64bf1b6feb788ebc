//! All entries of a session.

use crate::entries::{builtins, composites, diagnostics, language, ops, passes, recipe};
use crate::entry::{Entry, Kind};
use halite::Session;
use halite_support::Result;

/// The entries of a session, kind after kind, each kind in the order of its registry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    entries: Vec<Entry>,
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

    /// The entry that others refer to by this label.
    pub fn labelled(&self, label: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.label() == label)
    }
}
