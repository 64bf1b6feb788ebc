//! The committed files are what the code makes.

use super::{docs, reference};
use halite_reference::pages;
use std::collections::BTreeSet;

/// `HALITE_BLESS=1` writes them anew.
#[test]
fn pages_are_current() {
    let mut stale = Vec::new();
    for (name, text) in pages(&reference()) {
        let path = docs().join(&name);
        if std::env::var_os("HALITE_BLESS").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        if committed != text {
            let diff = similar::TextDiff::from_lines(&committed, &text).unified_diff().context_radius(1).to_string();
            stale.push(format!("docs/{name}\n{}", diff.lines().take(20).collect::<Vec<_>>().join("\n")));
        }
    }
    assert!(
        stale.is_empty(),
        "{}\nHALITE_BLESS=1 cargo test -p halite-cli --test cli reference accepts this",
        stale.join("\n")
    );
}

#[test]
fn entries_have_labels_and_anchors_of_their_own() {
    let reference = reference();
    let anchors: BTreeSet<String> = reference.entries().iter().map(halite_reference::Entry::anchor).collect();
    assert_eq!(anchors.len(), reference.entries().len());
    let labels: BTreeSet<String> = reference.entries().iter().map(halite_reference::Entry::label).collect();
    assert_eq!(labels.len(), reference.entries().len());
}
