//! The files of the repository that inputs are made of, read when they are needed.

use std::path::{Path, PathBuf};

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files below a folder that end so, sorted.
///
/// # Panics
/// When the folder cannot be read.
pub(crate) fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![root().join(folder)]);
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if path.is_dir() {
                open.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The bytes of these files.
pub(crate) fn contents(files: &[PathBuf]) -> Vec<Vec<u8>> {
    files.iter().filter_map(|path| std::fs::read(path).ok()).collect()
}

/// A case of `tests/bad_inputs`: input files by name, and the arguments of its command.
#[derive(Debug, Default)]
pub(crate) struct Case {
    pub(crate) files: Vec<(String, String)>,
    pub(crate) arguments: Vec<String>,
}

/// Every case.
pub(crate) fn cases() -> Vec<Case> {
    contents(&files("tests/bad_inputs", ".case")).iter().map(|text| case(&String::from_utf8_lossy(text))).collect()
}

fn case(text: &str) -> Case {
    let mut case = Case::default();
    for section in text.split("\n-- ").skip(1) {
        let Some((name, body)) = section.split_once(" --\n") else { continue };
        match name {
            "setup" | "exit" | "stderr" => {}
            "command" => case.arguments = words(body.lines().next().unwrap_or_default().trim_start_matches("halite ")),
            file => case.files.push((file.to_owned(), body.to_owned())),
        }
    }
    case
}

/// The input files of cases whose names end so.
pub(crate) fn case_files(ending: &str) -> Vec<Vec<u8>> {
    let all = cases().into_iter().flat_map(|case| case.files);
    all.filter(|(name, _)| name.ends_with(ending)).map(|(_, text)| text.into_bytes()).collect()
}

/// The commands that help shows, as the source of the command line has them.
pub(crate) fn examples() -> Vec<Vec<String>> {
    let source = contents(&files("cli/src", ".rs"));
    let lines =
        source.iter().flat_map(|text| String::from_utf8_lossy(text).lines().map(str::to_owned).collect::<Vec<_>>());
    let commands =
        lines.filter_map(|line| Some(line.strip_prefix("  halite ")?.split(['|', '>', '"']).next()?.to_owned()));
    commands.map(|command| words(&command)).collect()
}

/// The words of a command; those in single quotes may hold blanks.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for character in command.chars() {
        match character {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty())),
            character => word.push(character),
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_has_what_inputs_are_made_of() {
        assert!(cases().len() > 200 && examples().len() > 20);
        assert!(cases().iter().all(|case| !case.arguments.is_empty() || case.files.is_empty()));
        assert_eq!(words("a 'b c' --d='e f'"), ["a", "b c", "--d=e f"]);
    }
}
