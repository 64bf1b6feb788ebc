//! Links between documents, and files that they name.

use super::read::{prose, text};
use super::{below, documents, pages, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// Folders with documents that are not of the repository.
fn is_foreign(folder: &str) -> bool {
    let name = folder.rsplit('/').next().unwrap_or_default();
    let made = ["build", "runs", "shared", "node_modules"].contains(&folder);
    name.starts_with('.') || name.starts_with("target") && !folder.contains('/') || name == "target" || made
}

/// The targets of the links in a text, each with its line.
fn links(text: &str) -> Vec<(usize, String)> {
    let lines = prose(text);
    let in_line = |(number, line): (usize, String)| {
        let targets: Vec<String> =
            line.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())).collect();
        targets.into_iter().map(move |target| (number, target))
    };
    lines.into_iter().flat_map(in_line).collect()
}

/// The name by which a heading is linked to: letters, digits, `_` and `-` in lower case.
fn slug(heading: &str) -> String {
    let letter = |letter: char| match letter {
        ' ' => Some('-'),
        _ => (letter.is_alphanumeric() || letter == '_' || letter == '-').then(|| letter.to_ascii_lowercase()),
    };
    heading.trim().chars().filter_map(letter).collect()
}

/// The anchors of a document: its headings, and anchors that are written out.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = BTreeSet::new();
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        if is_code {
            continue;
        }
        found.extend(line.split("<a id=\"").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())));
        if line.starts_with('#') {
            let slug = slug(line.trim_start_matches('#'));
            let count = counts.entry(slug.clone()).or_default();
            found.insert(if *count == 0 { slug } else { format!("{slug}-{count}") });
            *count += 1;
        }
    }
    found
}

/// A path without `..` in it, from the root; `None` for one that leaves it.
fn joined(folder: &Path, target: &str) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in folder.join(target).components() {
        match part {
            Component::ParentDir => path.pop().then_some(())?,
            Component::Normal(part) => path.push(part),
            _ => {}
        }
    }
    Some(path)
}

#[test]
fn links_lead_somewhere() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for document in below("", &is_foreign) {
        let folder = Path::new(&document).parent().unwrap_or(Path::new(""));
        for (line, target) in links(&text(&document)) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            checked += 1;
            let (file, anchor) = target.split_once('#').map_or((&*target, None), |(file, anchor)| (file, Some(anchor)));
            let path = if file.is_empty() { Some(PathBuf::from(&document)) } else { joined(folder, file) };
            let is_there = path.as_ref().is_some_and(|path| root().join(path).exists());
            let Some(path) = path.filter(|_| is_there) else {
                wrong.push(format!("{document}:{line}: {target}: no such file"));
                continue;
            };
            // What the book does not hold cannot be linked to from its pages.
            if document.starts_with("docs/") && !path.starts_with("docs") {
                wrong.push(format!("{document}:{line}: {target}: is outside of the book, name it in code"));
            }
            let is_document = path.extension().is_some_and(|own| own == "md");
            if anchor.is_some_and(|anchor| is_document && !anchors(&text(&path.display().to_string())).contains(anchor))
            {
                wrong.push(format!("{document}:{line}: {target}: no such heading"));
            }
        }
    }
    assert!(checked > 100, "{checked} links");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_page_is_in_the_summary_once() {
    let mut listed: Vec<String> =
        links(&text("docs/SUMMARY.md")).into_iter().map(|(_, target)| format!("docs/{target}")).collect();
    listed.sort();
    let all: Vec<String> = below("docs", &|_| false).into_iter().filter(|page| page != "docs/SUMMARY.md").collect();
    assert_eq!(listed, all);
}

/// A path in code, such as `compiler/ir/src/op.rs`, is one of the repository. `<name>`, `*` and `{..}` stand for several.
#[test]
fn files_that_documents_name_exist() {
    let top: Vec<String> = std::fs::read_dir(root())
        .unwrap()
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !is_foreign(name))
        .collect();
    let mut wrong = Vec::new();
    let mut checked = 0;
    for document in documents() {
        for (number, line) in prose(&text(&document)) {
            for span in line.split('`').skip(1).step_by(2) {
                let folder = span.split_once('/').map(|(folder, _)| folder);
                let is_path = folder.is_some_and(|folder| top.iter().any(|own| own == folder));
                if !is_path || span.contains([' ', '<', '*', '{', ':', ',']) {
                    continue;
                }
                checked += 1;
                if !root().join(span).exists() {
                    wrong.push(format!("{document}:{number}: `{span}`"));
                }
            }
        }
    }
    assert!(checked > 50, "{checked} files");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The picture in the book is that of the study.
#[test]
fn pictures_of_studies_are_current() {
    let read = |path: &str| std::fs::read(root().join(path)).unwrap();
    let is_same = read("docs/precision/study.svg") == read("benches/studies/hlat-precision/results.svg");
    assert!(is_same, "copy benches/studies/hlat-precision/results.svg to docs/precision/study.svg");
}

#[test]
fn links_and_anchors_are_found() {
    let text = "# One `a` (b)\n[x](y.md#z) and `[code](no.md)`\n```\n[no](no.md)\n# no\n```\n## Two\n## Two\n## <a id=\"q\"></a>`r`\n";
    assert_eq!(links(text), [(2, "y.md#z".to_owned())]);
    assert_eq!(anchors(text).into_iter().collect::<Vec<_>>(), ["a-idqar", "one-a-b", "q", "two", "two-1"]);
    assert_eq!(joined(Path::new("docs/guide"), "../a.md"), Some(PathBuf::from("docs/a.md")));
    assert_eq!(joined(Path::new("docs"), "../../a.md"), None);
    assert!(!pages().is_empty());
}
