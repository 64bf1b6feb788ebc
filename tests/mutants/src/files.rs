//! The files that hold production code, and their lines of code: those that `tests/lines.sh` counts.

use crate::mutant::Result;
use std::path::Path;
use std::process::Command;

/// The names of files of a tree that git knows.
pub fn known(tree: &Path) -> Result<Vec<String>> {
    let output = Command::new("git").arg("-C").arg(tree).args(["ls-files", "*.rs", "*Cargo.toml"]).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8(output.stdout)?.lines().map(str::to_owned).collect())
}

/// The folders of crates that ship.
pub fn crates(known: &[String]) -> Vec<&str> {
    let folders = known.iter().filter_map(|name| name.strip_suffix("/Cargo.toml"));
    folders.filter(|folder| !folder.starts_with("tests") && *folder != "benches").collect()
}

/// The files of production code.
pub fn production(known: &[String]) -> Vec<&str> {
    let sources: Vec<String> = crates(known).iter().map(|folder| format!("{folder}/src/")).collect();
    let ships = |name: &str| {
        name.ends_with(".rs")
            && sources.iter().any(|folder| name.starts_with(folder))
            && !name.contains("/tests/")
            && !name.ends_with("/tests.rs")
    };
    known.iter().map(String::as_str).filter(|name| ships(name)).collect()
}

/// The roots of crates that ship: a module of switches stands in each.
pub fn roots(known: &[String]) -> Vec<String> {
    let names =
        crates(known).into_iter().flat_map(|folder| ["lib", "main"].map(|stem| format!("{folder}/src/{stem}.rs")));
    names.filter(|name| known.contains(name)).collect()
}

/// The numbers of lines of code, from 1. Unit tests end their file.
pub fn code_lines(text: &str) -> Vec<usize> {
    let lines = text.lines().take_while(|line| *line != "#[cfg(test)]").enumerate();
    let code = lines.filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with("//"));
    code.map(|(index, _)| index + 1).collect()
}
