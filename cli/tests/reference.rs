//! The reference: it is whole, current and found, and what it shows is so.

mod complete;
mod examples;
mod found;
mod pages;
mod program;

use halite::Session;
use halite_reference::{Entry, Kind, Reference};
use std::path::{Path, PathBuf};

/// The folder of the documentation.
fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

fn read(name: &str) -> String {
    let path = docs().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The reference of the program.
fn reference() -> Reference {
    halite_cli::reference(&Session::new()).unwrap_or_else(|error| panic!("{error}"))
}

/// The fenced blocks of a text in this language.
fn blocks<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let head = format!("```{language}\n");
    text.split(&head).skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect()
}

/// The entries of a kind.
fn entries(reference: &Reference, kind: Kind) -> Vec<&Entry> {
    reference.of_kind(kind).collect()
}
