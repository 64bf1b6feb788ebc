//! Tests about the repository itself: what the design says of crates, files and ops holds.

#![allow(clippy::unwrap_used, reason = "a failing helper fails the test")]

mod calls;
mod comments;
mod cycles;
mod files;
mod functions;
mod goldens;
mod imports;
mod names;
mod neuron_document;
mod opcodes;
mod ops;
mod precision_document;
mod rows;

use std::path::{Path, PathBuf};

/// The folder of the workspace.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests have a folder of their own")
}

/// The text of a file of the repository.
fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Folders with crates that ship.
const SHIPPED: [&str; 14] = [
    "bindings",
    "cli",
    "compiler",
    "data",
    "driver",
    "models",
    "optim",
    "page",
    "passes",
    "reference",
    "runtime",
    "targets",
    "train",
    "verify",
];

/// The Rust files of folders that are no tests: path, and text without unit tests, which end a file.
fn production(folders: &[&str]) -> impl Iterator<Item = (String, String)> {
    let files = folders.iter().flat_map(|folder| files_below(folder, "rs"));
    let paths = files.map(|file| file.strip_prefix(root()).unwrap().display().to_string());
    let is_test = |path: &str| {
        let is_kit = path.starts_with("tests/kit/src/");
        !path.contains("/src/") || path.ends_with("tests.rs") || path.contains("/tests/") && !is_kit
    };
    paths.filter(move |path| !is_test(path)).map(|path| {
        let text = read(&path);
        let code = ["mod", "pub(crate) mod"].map(|words| format!("\n#[cfg(test)]\n{words} tests {{"));
        let code = code.iter().fold(&*text, |text, test| text.split(test.as_str()).next().unwrap_or_default());
        (path, code.to_owned())
    })
}

/// The files below a folder with this extension, sorted; build folders are left out.
fn files_below(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = entry.file_name().unwrap().to_string_lossy();
            if entry.is_dir() && !name.starts_with('.') && !name.starts_with("target") {
                open.push(entry);
            } else if entry.extension().is_some_and(|own| own == extension) {
                found.push(entry);
            }
        }
    }
    found.sort();
    found
}
