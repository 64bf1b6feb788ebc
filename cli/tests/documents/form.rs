//! The form of documents: how long they are, and how pages are written.

use super::read::{prose, text};
use super::{pages, root};
use std::collections::BTreeSet;

/// The most bytes of the map of the architecture.
const MAP: usize = 15 * 1024;

#[test]
fn the_map_is_short() {
    let bytes = text("ARCHITECTURE.md").len();
    assert!(
        bytes <= MAP,
        "ARCHITECTURE.md has {bytes} bytes, at most {MAP} are meant to be read at once: docs/internals/ has room"
    );
}

/// The most lines and words of the README: whoever comes reads it in a few minutes.
const README: [usize; 2] = [200, 1800];

#[test]
fn the_readme_is_short_and_its_proofs_are_tests() {
    let readme = text("README.md");
    let found = [readme.lines().count(), readme.split_whitespace().count()];
    assert!(
        found[0] <= README[0] && found[1] <= README[1],
        "README.md has {found:?} lines and words, at most {README:?}"
    );
    let proofs = readme.split("\n## What is proven").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    let named = proofs.lines().filter_map(|line| line.strip_suffix("` |")?.rsplit_once('`')).map(|(_, name)| name);
    let named: Vec<&str> = named.collect();
    assert!(named.len() >= 10, "{named:?}");
    let folders = ["tests/tests/laws", "tests/tests/mesh", "tests/tests/numerics", "cli/tests"];
    let is_test = |name: &str| {
        folders.iter().any(|folder| {
            root().join(folder).join(format!("{name}.rs")).is_file() || root().join(folder).join(name).is_dir()
        })
    };
    assert_eq!(named.into_iter().filter(|name| !is_test(name)).collect::<Vec<_>>(), [""; 0]);
}

/// Pages say where to go on, so that nobody ends in front of a wall.
#[test]
fn pages_end_with_where_to_go_on() {
    let starts = ["docs/README.md", "docs/SUMMARY.md"];
    let is_open = |page: &String| !text(page).contains("\n## Next\n\n- [") && !starts.contains(&page.as_str());
    assert_eq!(pages().into_iter().filter(is_open).collect::<Vec<_>>(), [""; 0]);
}

/// Whether a paragraph's line holds the end of a sentence and the beginning of the next.
fn is_several(line: &str) -> bool {
    let begins = |rest: &str| rest.starts_with(|first: char| first.is_ascii_uppercase());
    line.match_indices(". ").any(|(at, _)| begins(&line[at + 2..]))
}

/// One sentence a line in paragraphs, so that a change of one is seen as one.
#[test]
fn paragraphs_have_a_sentence_a_line() {
    let mut wrong = Vec::new();
    for page in pages() {
        let lines = prose(&text(&page));
        // Lines of tables, of lists, and headings.
        let is_paragraph =
            |line: &str| !line.starts_with(['|', '-', '#', ' ']) && !line.starts_with(|c: char| c.is_ascii_digit());
        let several = lines.into_iter().filter(|(_, line)| is_paragraph(line) && is_several(line));
        wrong.extend(several.map(|(number, line)| format!("{page}:{number}: {line}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Invariants have numbers of their own, and the map cites those that there are.
#[test]
fn invariants_are_numbered_once_and_cited_by_number() {
    let internals = pages().into_iter().filter(|page| page.starts_with("docs/internals/"));
    let mut known = BTreeSet::new();
    for page in internals {
        for name in
            text(&page).split("**Invariant ").skip(1).filter_map(|rest| Some(rest.split_once(".**")?.0.to_owned()))
        {
            assert!(known.insert(name.clone()), "{page}: Invariant {name} is there twice");
        }
    }
    assert!(known.len() > 40, "{}", known.len());
    let map = text("ARCHITECTURE.md");
    let cited: Vec<&str> = map.split("([").skip(1).filter_map(|rest| Some(rest.split_once(']')?.0)).collect();
    assert_eq!(cited.len(), 10);
    assert_eq!(cited.iter().filter(|name| !known.contains(**name)).collect::<Vec<_>>(), Vec::<&&str>::new());
}

#[test]
fn sentences_are_told_apart() {
    assert!(is_several("One. Two."));
    assert!(!is_several("One, e.g. `this`, and **State.** it is."));
}
