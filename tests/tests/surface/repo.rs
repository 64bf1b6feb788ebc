//! Tests about the repository itself: what the design says of crates, files and ops holds.

#![allow(clippy::unwrap_used, reason = "a failing helper fails the test")]

mod calls;
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

/// The text of a file without its unit tests, which end it; `None` where all of it is a test.
fn production(path: &str) -> Option<String> {
    let is_test = !path.contains("/src/") || path.ends_with("tests.rs") || path.contains("/tests/");
    let is_test = is_test && !path.starts_with("tests/kit/src/");
    let test = "\n#[cfg(test)]\nmod tests {";
    (!is_test).then(|| read(path).split(test).next().unwrap_or_default().to_owned())
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
