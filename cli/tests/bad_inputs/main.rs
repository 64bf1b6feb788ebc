//! Bad inputs: for each mistake that people make, exactly what the command says.
//!
//! A file `tests/bad_inputs/<theme>/<name>.case` is one test: the inputs, the command, the exit code and standard error,
//! in sections (see [`case`]). Besides that text, every case shows that nothing is written, that nothing panics, and that
//! each error names a way out, in the form for people and as JSON. `cargo bless-inputs` rewrites the expectations in
//! place.

#![allow(clippy::unwrap_used, reason = "this is test code")]

mod case;
mod setup;

use case::Case;
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

/// The cases, from this crate.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/bad_inputs");

fn main() -> ExitCode {
    let bless = std::env::args().any(|argument| argument == "--bless");
    let arguments = Arguments::from_iter(std::env::args().filter(|argument| argument != "--bless"));
    let mut paths = Vec::new();
    find(Path::new(ROOT), &mut paths);
    let trial = |path: PathBuf| {
        let name = path.strip_prefix(ROOT).unwrap().with_extension("").to_string_lossy().replace('\\', "/");
        Trial::test(name, move || check(&path, bless).map_err(Failed::from))
    };
    libtest_mimic::run(&arguments, paths.into_iter().map(trial).collect()).exit_code()
}

/// Every file below a folder, in the order of their names.
fn find(folder: &Path, paths: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() { find(&path, paths) } else { paths.push(path) }
    }
}

/// Runs one case, for people and as JSON, in one folder, which the command leaves as it was.
fn check(path: &Path, bless: bool) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let mut case = Case::parse(&text)?;
    let place = tempfile::tempdir().map_err(|error| error.to_string())?;
    let folder = place.path().join("work");
    std::fs::create_dir(&folder).map_err(|error| error.to_string())?;
    setup::prepare(&case, &folder)?;
    let (code, stderr) = refused(&case, &folder, &[])?;
    let (json_code, json) = refused(&case, &folder, &["--json"])?;
    if json_code != code {
        return Err(format!("exits with {code}, but with {json_code} under --json"));
    }
    remedies(&json)?;
    let shown = case.to_text();
    (case.exit, case.stderr) = (code, stderr);
    if case.to_text() == text {
        return Ok(());
    }
    if bless {
        return std::fs::write(path, case.to_text()).map_err(|error| error.to_string());
    }
    let diff = similar::TextDiff::from_lines(&shown, &case.to_text()).unified_diff().to_string();
    Err(format!("{diff}\n`cargo bless-inputs` accepts this"))
}

/// Runs the command of a case in a folder with its inputs; what it says and its exit code, once it is clear that it left
/// everything as it was, above the folder too.
fn refused(case: &Case, folder: &Path, more: &[&str]) -> Result<(i32, String), String> {
    let place = folder.parent().unwrap();
    let before = snapshot(place);
    let arguments: Vec<&str> = case.command.iter().map(String::as_str).chain(more.iter().copied()).collect();
    let output = halite(folder, &arguments);
    let stderr = String::from_utf8(output.stderr).map_err(|error| error.to_string())?;
    let stderr = stderr.replace(&*folder.to_string_lossy(), "$DIR");
    if snapshot(place) != before {
        return Err(format!("the command wrote something\n{stderr}"));
    }
    // A check that fails still has a result.
    if output.status.code() != Some(1) && !output.stdout.is_empty() {
        return Err(format!("standard output is not empty: {}", String::from_utf8_lossy(&output.stdout)));
    }
    if stderr.contains("panicked") || stderr.contains('\u{1b}') {
        return Err(format!("a panic or colors\n{stderr}"));
    }
    Ok((output.status.code().ok_or("ended by a signal")?, stderr))
}

/// Runs the binary in an environment that is the same everywhere.
fn halite(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_halite"));
    command.args(arguments).current_dir(folder).env_clear().env("HOME", folder.with_file_name("home"));
    command.output().expect("the binary runs")
}

/// Each file below a folder with its bytes, each folder without.
fn snapshot(folder: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(snapshot(&path));
            found.push((path, None));
        } else {
            let bytes = std::fs::read(&path).ok();
            found.push((path, bytes));
        }
    }
    found.sort();
    found
}

/// Every line is a diagnostic, and each error says what to do.
fn remedies(json: &str) -> Result<(), String> {
    for line in json.lines() {
        let diagnostic: serde_json::Value =
            serde_json::from_str(line).map_err(|error| format!("a line of --json is not JSON: {error}\n{line}"))?;
        if diagnostic["severity"] == "error" && diagnostic["help"].is_null() {
            return Err(format!("an error without help: {line}"));
        }
    }
    if json.is_empty() { Err("nothing is said".to_owned()) } else { Ok(()) }
}
