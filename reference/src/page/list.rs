//! A page of Markdown.

use crate::entry::{Entry, Kind};
use crate::reference::Reference;

/// All entries of a kind: their names with a line each, then all that there is to say of them.
pub(super) fn page(reference: &Reference, kind: Kind) -> String {
    let made = "This page is made from the code; `halite help NAME` shows one entry.";
    let mut text = format!("# {}\n\n{}\n\n{made}\n\n", kind.title(), kind.opening());
    for entry in reference.of_kind(kind) {
        text.push_str(&format!("- [`{}`](#{}): {}\n", entry.name, entry.anchor(), entry.summary));
    }
    for entry in reference.of_kind(kind) {
        text.push_str(&format!(
            "\n<a id=\"{}\"></a>\n\n## `{}`\n\n{}\n",
            entry.anchor(),
            entry.name,
            entry.body.trim_end()
        ));
        let related: Vec<String> = reference.related(entry).into_iter().map(link).collect();
        if !related.is_empty() {
            text.push_str(&format!("\nSee also {}.\n", related.join(", ")));
        }
    }
    text
}

/// A link to an entry from a page of Markdown.
fn link(entry: &Entry) -> String {
    let page = match entry.kind {
        Kind::Language => format!("../language/{}.md", entry.file),
        kind => format!("{}.md#{}", kind.page(), entry.anchor()),
    };
    format!("[{} `{}`]({page})", entry.kind.word(), entry.name)
}
