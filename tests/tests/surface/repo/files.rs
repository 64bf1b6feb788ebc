//! The places and lengths of files, and restrictions on their contents.

use crate::repo::{SHIPPED, files_below, production, read, root};
use std::path::Path;

/// The entries of the top folder beside names that start with a dot.
const TOP: [&str; 28] = [
    "docs",
    "reference",
    "bindings",
    "compiler",
    "data",
    "driver",
    "optim",
    "targets",
    "runtime",
    "train",
    "verify",
    "cli",
    "models",
    "page",
    "plan",
    "passes",
    "tests",
    "benches",
    "Cargo.toml",
    "Cargo.lock",
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "rust-toolchain.toml",
    "rustfmt.toml",
];

/// The longest a file may be, in lines.
const MAX_LINES: usize = 500;

/// Files that may be longer, each for a reason.
const LONG: [(&str, &str); 0] = [];

/// Folders with Rust code.
fn code_folders() -> impl Iterator<Item = &'static str> {
    SHIPPED.into_iter().chain(["tests", "benches"])
}

fn sources() -> impl Iterator<Item = (String, String)> {
    let files = code_folders().flat_map(|folder| files_below(folder, "rs"));
    files
        .map(|path| (path.strip_prefix(root()).unwrap().display().to_string(), std::fs::read_to_string(&path).unwrap()))
}

#[test]
fn the_top_level_holds_what_it_should() {
    let ignored = |name: &str| {
        name.starts_with('.') || name == "target" || name.starts_with("target-") || name == "build" || name == "runs"
    };
    let names =
        std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let stray = names.filter(|name| !ignored(name) && name != "clippy.toml" && !TOP.contains(&name.as_str()));
    assert_eq!(stray.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn files_are_short() {
    let long = sources().map(|(path, text)| (path, text.lines().count())).filter(|(_, lines)| *lines > MAX_LINES);
    let long = long.filter(|(path, _)| !LONG.iter().any(|(own, _)| own == path));
    assert_eq!(long.collect::<Vec<_>>(), []);
    let gone = LONG.iter().filter(|(path, _)| !root().join(path).exists());
    assert_eq!(gone.count(), 0, "a long file is listed that does not exist");
}

/// The folders of crates that speak C: the runtime, and what stands in for a library that it opens.
const DECLARES_C: [&str; 2] = ["runtime/", "tests/standin-nrt/"];

/// The folder of the crate whose macros write `unsafe` code, so that it denies it where the others forbid it.
const MACROS: [&str; 1] = ["bindings/python/"];

#[test]
fn unsafe_code_stands_in_the_runtime_and_its_stand_in_only() {
    // Written in two parts, so that this file does not contain it.
    let word = concat!("un", "safe");
    let holds = |line: &str| {
        let code = line.split("//").next().unwrap_or_default();
        code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|token| token == word)
    };
    let is_let = |path: &str| DECLARES_C.iter().any(|folder| path.starts_with(folder));
    let found = sources().filter(|(path, text)| !is_let(path) && text.lines().any(holds));
    assert_eq!(found.map(|(path, _)| path).collect::<Vec<_>>(), [""; 0]);
}

/// Calls that change files; only the layer that tests can make fail has them.
const CHANGES: [&str; 7] =
    ["fs::write(", "fs::rename(", "fs::copy(", "fs::create_dir", "fs::remove_", "File::create", "OpenOptions"];

/// Files that may change files beside the layer, each for a reason.
const DIRECTLY: [(&str, &str); 3] = [
    ("targets/neuron/selftest/src/execute.rs", "the output of a process"),
    ("targets/neuron/src/neuronx/compiler.rs", "the output of a process"),
    ("targets/neuron/src/neuronx/job.rs", "the output of a process"),
];

#[test]
fn files_are_changed_through_one_layer() {
    let is_let = |path: &str| DIRECTLY.iter().any(|(own, _)| *own == path) || path.starts_with("compiler/disk/src/");
    let changes = |code: &str| CHANGES.iter().any(|word| code.contains(word));
    let found = production(&SHIPPED).filter(|(path, code)| !is_let(path) && changes(code)).map(|(path, _)| path);
    assert_eq!(found.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    for path in code_folders().flat_map(|folder| files_below(folder, "toml")) {
        let is_own = |folder: &&str| path.starts_with(root().join(folder));
        if path.file_name() != Some("Cargo.toml".as_ref()) || DECLARES_C.iter().chain(&MACROS).any(is_own) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("[lints]\nworkspace = true"), "{}", path.display());
    }
}

#[test]
fn every_code_is_explained_and_used() {
    let codes = halite_support::codes::ALL;
    for code in codes {
        assert!(code.explanation.len() > 20 && code.explanation.ends_with('.'), "{code:?}: {}", code.explanation);
    }
    let table = "compiler/support/src/codes.rs";
    let names: Vec<String> = read(table)
        .lines()
        .filter_map(|line| line.trim().split_once(" = \"E").map(|(name, _)| name.to_owned()))
        .collect();
    assert_eq!(names.len(), codes.len());
    let texts: Vec<String> =
        sources().filter(|(path, _)| Path::new(path) != Path::new(table)).map(|(_, text)| text).collect();
    let used = |name: &&String| texts.iter().any(|text| text.contains(name.as_str()));
    assert_eq!(names.iter().filter(|name| !used(name)).collect::<Vec<_>>(), [""; 0]);
}

/// A file of tests that no `mod` names is never built.
#[test]
fn every_file_of_tests_is_part_of_an_executable() {
    let mut stray = Vec::new();
    for (path, _) in sources().filter(|(path, _)| path.ends_with("/main.rs") && path.contains("tests/")) {
        let folder = root().join(path.strip_suffix("/main.rs").unwrap());
        let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|own| own == "rs")).collect();
        let text: String = files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
        // Beside `main.rs` may be files that are executables by themselves.
        let manifest = std::fs::read_to_string(folder.parent().unwrap().join("Cargo.toml")).unwrap_or_default();
        stray.extend(files.into_iter().filter(|path| {
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            let is_part = text.lines().any(|line| line == format!("mod {stem};")) || stem == "main";
            !is_part && !manifest.contains(&format!("name = \"{stem}\""))
        }));
    }
    assert!(stray.is_empty(), "{stray:?}");
}

#[test]
fn the_corpus_is_the_one_its_readme_describes() {
    let folder = root().join("tests/data");
    let found = halite_bundle::sha256(&std::fs::read(folder.join("pride-and-prejudice.txt")).unwrap());
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    assert!(readme.contains(&found), "{found} is not the checksum in the README");
}

/// A program that a test runs is written by another process: what this one has open for writing its children hold too until they run, and
/// such a file cannot be run ("Text file busy"), which shows once in many times.
#[test]
fn tests_write_no_program_that_they_run() {
    let makes = |text: &str| text.contains("from_mode(0o7") || text.contains(concat!("chmod\", &[\"", "+x"));
    let files = files_below("", "rs").into_iter().filter(|file| !file.ends_with("repo/files.rs"));
    let found: Vec<_> = files.filter(|file| makes(&std::fs::read_to_string(file).unwrap())).collect();
    assert!(found.is_empty(), "{found:?}");
}
