//! The files of the reference.

mod html;
mod list;

use crate::entry::Kind;
use crate::reference::Reference;

/// The files below `docs/` with their texts: a page of Markdown for each kind but the chapters, which are written by hand, a list of
/// these pages, and one page of HTML with everything.
pub fn pages(reference: &Reference) -> Vec<(String, String)> {
    let kinds = Kind::ALL.into_iter().filter(|kind| *kind != Kind::Language);
    let mut pages: Vec<(String, String)> =
        kinds.map(|kind| (format!("reference/{}.md", kind.page()), list::page(reference, kind))).collect();
    pages.push(("README.md".to_owned(), list::index()));
    pages.push(("reference.html".to_owned(), html::page(reference)));
    pages
}
