//! No file imports one that imports it, through any number of others.
//!
//! A module and those inside it are one thing: what passes between them alone does not count.

mod imports;
mod modules;

use crate::repo::root;
use imports::Edges;
use modules::Crate;
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use std::fmt::Write;

/// A file that may be imported by what it imports: its crate, its module, and why.
type Exception = (&'static str, &'static str, &'static str);

const EXCEPTIONS: [Exception; 2] = [
    ("compiler/ir", "ops", "`Op` is closed: it holds all ops, and what an op is given holds instructions of any op"),
    ("compiler/ir", "composite", "an op of `Op`: it is expanded by the builder, which makes and expands it"),
];

/// The crate of `Op` and its ops, which hold each other through their modules too.
const CLOSED: &str = "compiler/ir";

/// The folders of the crates that ship.
fn crates() -> Vec<String> {
    let below = |folder: &str| {
        let entries = std::fs::read_dir(root().join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        names.map(|name| format!("{folder}/{name}")).collect::<Vec<_>>()
    };
    let alone = [
        "cli",
        "data",
        "driver",
        "models",
        "optim",
        "page",
        "passes",
        "reference",
        "runtime",
        "runtime/xla-rs",
        "targets/neuron/selftest",
        "train",
        "verify",
    ];
    let mut all: Vec<String> =
        ["compiler", "targets"].into_iter().flat_map(below).chain(alone.map(str::to_owned)).collect();
    all.retain(|folder| root().join(folder).join("src/lib.rs").exists());
    all.sort();
    all
}

/// The imports of a crate, without those of exceptions.
fn edges<'e>(folder: &str, exceptions: impl IntoIterator<Item = &'e Exception>) -> Edges {
    let mut edges = Crate::read(folder).edges();
    for (own, imported, _) in exceptions {
        edges.retain(|(_, to), _| own != &folder || to != imported);
    }
    edges
}

/// The cycles between the files of a crate, each with the names that tie it: those of files that do not hold each other, and
/// those that lead out of a module and back into it.
fn cycles(folder: &str, edges: &Edges) -> Vec<String> {
    let all = || edges.keys().map(|(from, to)| (from.as_str(), to.as_str()));
    let found = |pairs: Vec<(&'_ str, &'_ str)>, counts: fn(&[&str]) -> bool| -> Vec<String> {
        let graph: DiGraphMap<&str, ()> = pairs.into_iter().collect();
        let cycles = tarjan_scc(&graph).into_iter().filter(|files| files.len() > 1 && counts(files));
        cycles.map(|files| describe(folder, &files, edges)).collect()
    };
    let apart = all().filter(|(from, to)| !holds(from, to) && !holds(to, from)).collect();
    let mut cycles = found(apart, |_| true);
    if folder == CLOSED {
        return cycles;
    }
    cycles.extend(found(all().collect(), |files| !files.iter().any(|own| files.iter().all(|file| holds(own, file)))));
    cycles
}

/// Whether a module is another or holds it.
fn holds(module: &str, file: &str) -> bool {
    file.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn describe(folder: &str, files: &[&str], edges: &Edges) -> String {
    let mut text = format!("{folder}:");
    for ((from, to), names) in edges {
        if files.contains(&from.as_str()) && files.contains(&to.as_str()) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            write!(text, "\n    {from} -> {to}: {}", names.join(", ")).unwrap();
        }
    }
    text
}

#[test]
fn files_do_not_import_each_other() {
    let crates = crates();
    assert!(crates.len() > 15, "{crates:?}");
    let found: Vec<String> = crates.iter().flat_map(|folder| cycles(folder, &edges(folder, &EXCEPTIONS))).collect();
    assert!(found.is_empty(), "{} cycles:\n{}", found.len(), found.join("\n"));
}

#[test]
fn every_exception_is_needed() {
    for exception in &EXCEPTIONS {
        let (folder, file, _) = exception;
        let others = EXCEPTIONS.iter().filter(|other| *other != exception);
        assert!(!cycles(folder, &edges(folder, others)).is_empty(), "{folder}: `{file}` closes no cycle");
    }
}

/// A crate of these files.
fn found_in(files: &[(&str, &str)]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join("src").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    cycles("made", &Crate::read(folder.path().to_str().unwrap()).edges())
}

#[test]
fn cycles_are_found_through_whatever_brings_a_name() {
    let lib = ("lib.rs", "mod a; mod b; pub use b::*; use a::A as First;");
    let back = ("b/mod.rs", "mod c; pub use c::C;");
    for import in
        ["use crate::{C};", "fn f() { let _ = format!(\"{}\", crate::b::C); }", "use super::b; struct X(b::C);"]
    {
        for last in ["use crate::First;", "use super::super::a::A;", "use crate::a; fn f() { a::A }"] {
            let found = found_in(&[lib, ("a.rs", import), back, ("b/c.rs", last)]);
            assert!(!found.is_empty(), "{import} {last}");
            assert!(found[0].contains("a -> b/c: ") && found[0].contains("b/c -> a: "), "{}", found[0]);
        }
    }
}

#[test]
fn parents_and_unit_tests_close_no_cycle() {
    let tests = "#[cfg(test)] mod tests { use crate::a::A; } impl C { #[cfg(test)] fn f() { crate::a::f() } }";
    let files = [
        ("lib.rs", "mod a; mod b; pub use b::C;"),
        ("a.rs", "mod d; use crate::C; use d::D;"),
        ("a/d.rs", "use super::A;"),
        ("b.rs", "mod c; pub use c::C;"),
        ("b/c.rs", tests),
    ];
    assert_eq!(found_in(&files), [""; 0]);
}

#[test]
fn a_way_out_of_a_module_and_back_is_a_cycle() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::B;"),
        ("b.rs", "mod c; use c::C;"),
        ("b/c.rs", "use crate::a::A;"),
    ];
    assert_eq!(found_in(&files).len(), 1);
}
