//! The binary from outside: exit codes, where text goes, nothing half-written.

#![allow(clippy::unwrap_used, reason = "this is test code")]

use std::path::Path;
use std::process::{Command, Output};

fn halite(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_halite")).args(arguments).current_dir(folder).output().expect("the binary runs")
}

/// Runs a command that must fail, leave the folder as it is and say nothing on standard output; returns what it said.
fn fails(arguments: &[&str], code: i32) -> String {
    let folder = tempfile::tempdir().unwrap();
    fails_in(folder.path(), arguments, code)
}

fn fails_in(folder: &Path, arguments: &[&str], code: i32) -> String {
    let files = || {
        let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = files();
    let output = halite(folder, arguments);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
    assert_eq!(files(), before, "{arguments:?} leaves nothing behind");
    assert!(output.stdout.is_empty());
    assert!(!text.contains('\u{1b}'), "no colors outside a terminal");
    text
}

#[test]
fn help_and_version_are_no_errors() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [["--help"], ["--version"]] {
        let output = halite(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(0));
        assert!(!output.stdout.is_empty());
    }
    assert!(String::from_utf8(halite(folder.path(), &["train", "--help"]).stdout).unwrap().contains("Examples:"));
}

#[test]
fn wrong_command_lines_exit_with_2() {
    assert!(fails(&["compil"], 2).contains("compile"));
    assert!(fails(&["compile", "tiny", "--emit", "mlir"], 2).contains("hlo-text"));
    assert!(fails(&["train", "tiny"], 2).contains("--text"));
    let json = fails(&["--json", "compil"], 2);
    assert!(json.starts_with("{\"code\":\"E0407\""), "{json}");
}

#[test]
fn unknown_inputs_exit_with_2() {
    assert!(fails(&["compile", "tini"], 2).contains("did you mean `tiny`?"));
    assert!(fails(&["compile", "none.toml"], 2).contains("cannot read `none.toml`"));
    assert!(fails(&["compile", "none.hal"], 2).contains("cannot read `none.hal`"));
    assert!(fails(&["init", "nowhere"], 2).contains("is not a bundle"));
    assert!(fails(&["run", "nowhere", "--inputs", "x", "--outputs", "y"], 2).contains("is not a bundle"));
    assert!(fails(&["inspect", "."], 2).contains("is not a bundle"));
    assert!(fails(&["train", "tiny", "--text", "none.txt"], 2).contains("cannot read `none.txt`"));
}

#[test]
fn wrong_recipes_show_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = "halite = 1\nbatch = 0\nseq = 8\nmodel.name = 'llama'\n[optimizer.adamw]\nlr = -1\nbeta = 0.5\n";
    std::fs::write(folder.path().join("r.toml"), recipe).unwrap();
    let text = fails_in(folder.path(), &["compile", "r.toml"], 2);
    for part in ["r.toml:2:9", "batch = 0", "r.toml:6:6", "E0405", "r.toml:7:1", "did you mean `betas`?"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let json = fails_in(folder.path(), &["compile", "r.toml", "--json"], 2);
    let lines: Vec<serde_json::Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!((&lines[0]["code"], &lines[0]["line"]), (&"E0405".into(), &2.into()));
    assert!(fails(&["compile", "tiny", "--set", "batch=none"], 2).contains("--set batch=none"));
}

#[test]
fn broken_files_exit_with_2() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("manifest.json"), "{\"version\": 7}").unwrap();
    std::fs::write(folder.path().join("x.pb"), [0xff; 9]).unwrap();
    std::fs::write(folder.path().join("r.toml"), [0xff; 9]).unwrap();
    assert!(fails_in(folder.path(), &["init", "."], 2).contains("has version 7"));
    assert!(fails_in(folder.path(), &["inspect", "x.pb"], 2).contains("error[E"));
    assert!(fails_in(folder.path(), &["compile", "r.toml"], 2).contains("not UTF-8"));
    assert!(fails_in(folder.path(), &["inspect", ".", "--set", "batch=1"], 2).contains("already compiled"));
}

#[test]
fn a_missing_plugin_exits_with_3() {
    let text = fails(&["plugin", "path", "--plugin", "/none/plugin.so"], 3);
    assert!(text.contains("E0701") && text.contains("halite plugin install"), "{text}");
}
