//! What the documents show. Each command in a block runs as it is written and must print what stands under it; the few that
//! cannot run here, and commands in running text, must name options that exist; figures in running text are counted anew.

mod figures;
mod read;
mod shown;
mod spoken;

use shown::{Folder, run};
use std::path::{Path, PathBuf};

/// The documents with commands.
const DOCUMENTS: [&str; 5] = ["README.md", "NEURON.md", "PRECISION.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/// The folder of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn commands_print_what_the_readme_shows() {
    run("README.md", &Folder::new(&[]));
}

#[test]
fn commands_print_what_the_page_on_neuron_shows() {
    run("NEURON.md", &Folder::new(&["halite compile hlat-7b --target trn1 -o build/hlat-7b"]));
}

#[test]
fn commands_print_what_the_page_on_precision_shows() {
    run("PRECISION.md", &Folder::new(&[]));
}

/// Each command that a document names, also in running text, is one of the program, with options that it has.
#[test]
fn named_commands_and_options_exist() {
    let mut known = spoken::Help::default();
    let commands = DOCUMENTS.iter().flat_map(|document| spoken::commands(document));
    let wrong: Vec<String> = commands.filter_map(|(place, command)| known.check(&place, &command)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
