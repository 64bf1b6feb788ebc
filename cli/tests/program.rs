//! Running the program.

use std::path::Path;
use std::process::{Command, Output};

/// A text to train on.
pub(crate) const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/pride-and-prejudice.txt");

/// Runs a command in a folder.
pub(crate) fn halite(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_halite")).args(arguments).current_dir(folder).output().expect("the binary runs")
}

/// The standard output of a command that must succeed.
pub(crate) fn written(folder: &Path, arguments: &[&str]) -> String {
    let output = halite(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
