//! The programs that tests run from outside.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The command line of Halite: the one that the variable `HALITE_PROGRAM` names, else built when it is older than its sources.
///
/// Cargo builds the programs of another package for its own tests only.
pub fn halite() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| std::env::var_os("HALITE_PROGRAM").map_or_else(build, PathBuf::from))
}

/// Cargo, as it runs the tests: without the variable by which they tell their times, for which it would build everything anew.
pub fn cargo() -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.env_remove("RUSTC_BOOTSTRAP");
    cargo
}

fn build() -> PathBuf {
    let mut cargo = cargo();
    cargo.args([
        "build",
        "--offline",
        "--quiet",
        "--message-format=json",
        "--package",
        "halite-cli",
        "--bin",
        "halite",
    ]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs, as it runs the tests");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    let programs = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let program = programs.filter_map(|message| message["executable"].as_str().map(PathBuf::from)).next_back();
    program.expect("cargo names the program that it built")
}
