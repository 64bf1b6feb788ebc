//! Checks of the documents. Each command in a block runs as it is written and must print the lines under it. The few commands that
//! cannot run here, and those in running text, must name options that exist. Figures in running text are counted again. Links must
//! lead to an existing place.

mod calibration;
mod figures;
mod form;
mod links;
mod read;
mod shown;
mod spoken;

use shown::{Folder, run};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Commands that run before those of a page, for pages that build on an earlier one.
const PREPARED: [(&str, &str); 2] = [
    ("docs/neuron/launch.md", "halite compile hlat-7b --target trn1 -o build/hlat-7b"),
    ("docs/neuron/compile.md", "halite compile hlat-7b --target trn1 -o build/hlat-7b"),
];

/// The most commands of the book that train for long.
const LONG_RUNS: usize = 2;

/// The folder of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The documents below a folder, by their paths from the root, without those in folders that are passed over.
fn below(folder: &str, passed_over: &dyn Fn(&str) -> bool) -> Vec<String> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).unwrap().map(Result::unwrap) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            if entry.file_type().unwrap().is_dir() {
                open.extend((!passed_over(&path)).then_some(path));
            } else if path.ends_with(".md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The pages of the book that are written by hand.
fn pages() -> Vec<String> {
    below("docs", &|folder| folder == "docs/reference")
}

/// The documents with commands: pages, and those at the top but the record of changes, whose commands are those of their time.
fn documents() -> Vec<String> {
    let top = below("", &|_| true).into_iter().filter(|document| document != "CHANGELOG.md");
    top.chain(pages()).collect()
}

/// Documents run side by side: each has a folder of its own.
#[test]
fn commands_print_what_documents_show() {
    let mut documents: Vec<String> =
        documents().into_iter().filter(|document| !read::shown(document).is_empty()).collect();
    // What trains for long begins first: the list is worked on from its end.
    documents.sort_by_key(|document| shown::long_runs(document));
    assert!(documents.len() > 10, "{documents:?}");
    let (open, wrong) = (Mutex::new(documents), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let Some(document) = open.lock().unwrap().pop() else { return };
            let prepared = PREPARED.iter().filter(|(own, _)| *own == document).map(|(_, command)| *command);
            let found = run(&document, &Folder::new(&prepared.collect::<Vec<_>>()));
            wrong.lock().unwrap().extend(found);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn pages_train_for_long_at_most_twice() {
    let runs: usize = pages().iter().map(|page| shown::long_runs(page)).sum();
    assert!(runs <= LONG_RUNS, "{runs}");
}

#[test]
fn prepared_pages_show_commands() {
    let gone =
        PREPARED.iter().filter(|(page, _)| !pages().contains(&(*page).to_owned()) || read::shown(page).is_empty());
    assert_eq!(gone.count(), 0);
}

/// Each command that a document names, also in running text, is one of the program, with options that it has.
#[test]
fn named_commands_and_options_exist() {
    let mut known = spoken::Help::default();
    let commands = documents().into_iter().flat_map(|document| spoken::commands(&document));
    let wrong: Vec<String> = commands.filter_map(|(place, command)| known.check(&place, &command)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
