//! The files of the reference.

mod list;

use crate::entry::Kind;
use crate::reference::Reference;

/// The files below `docs/` with their texts: a page of Markdown for each kind but the chapters, which are written by hand.
pub fn pages(reference: &Reference) -> Vec<(String, String)> {
    let kinds = Kind::ALL.into_iter().filter(|kind| *kind != Kind::Language);
    kinds.map(|kind| (format!("reference/{}.md", kind.page()), list::page(reference, kind))).collect()
}
