//! Finding `neuronx-cc` and asking for its version.

use super::process::{self, Exit, Limits};
use crate::Tables;
use crate::tables::CompilerVersion;
use halite_support::files::cannot;
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The name of the program.
const PROGRAM: &str = "neuronx-cc";
/// The variable that names it.
const VARIABLE: &str = "HALITE_NEURONX_CC";
/// How long it may take to say its version; it loads much of Python first.
const VERSION_TIMEOUT: Duration = Duration::from_secs(120);

/// A `neuronx-cc` that answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compiler {
    pub(super) program: PathBuf,
    pub(super) version: Version,
}

/// A version of the compiler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Version {
    /// As the compiler prints it, such as `2.27.5334.0+a1b2c3d4`.
    pub(super) text: String,
    /// The numbers of it.
    pub(super) number: CompilerVersion,
}

/// The program at `named`, else the one in the variable `HALITE_NEURONX_CC`, else the one on the `PATH`.
///
/// # Errors
/// When there is none.
pub fn find(named: Option<&Path>) -> Result<PathBuf> {
    let variable = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    let of_variable = variable.map(|path| (path, format!("`${VARIABLE}`")));
    let chosen = named.map(|path| (path.to_owned(), "`--neuronx-cc`".to_owned())).or(of_variable);
    let Some((path, by)) = chosen else {
        return on_path()
            .ok_or_else(|| Diagnostic::error(codes::COMPILER_MISSING, "there is no `neuronx-cc` on the `PATH`"));
    };
    if !path.is_file() {
        let message = format!("there is no program `{}`, which {by} names", path.display());
        return Err(Diagnostic::error(codes::COMPILER_MISSING, message));
    }
    // A compiler runs in a folder of its own, where a relative path means something else.
    std::path::absolute(&path).map_err(|error| cannot("find", &path, &error))
}

fn on_path() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let candidate = std::env::split_paths(&folders).map(|folder| folder.join(PROGRAM)).find(|path| path.is_file())?;
    std::path::absolute(candidate).ok()
}

impl Compiler {
    /// Asks a program for its version.
    ///
    /// # Errors
    /// When it cannot be run, fails, takes too long or prints no version.
    pub fn ask(program: PathBuf, interrupt: &AtomicBool) -> Result<Self> {
        let said = said(&program, interrupt)?;
        match parse(&said) {
            Some(version) => Ok(Self { program, version }),
            None => Err(unusable(&program, "prints no version that can be read")
                .note(format!("`--version` printed: {}", excerpt(&said)))
                .note("expected a line such as `NeuronX Compiler version 2.27.5334.0+a1b2c3d4`")),
        }
    }

    /// The path that it is run by.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Its version as it prints it, such as `2.27.5334.0+a1b2c3d4`.
    pub fn version(&self) -> &str {
        &self.version.text
    }

    /// Warnings about this compiler for a bundle that was made for the rules of `assumed`.
    pub fn warnings(&self, assumed: Option<&CompilerVersion>) -> Diagnostics {
        let tables = Tables::builtin();
        let assumed = assumed.unwrap_or(tables.newest());
        let found = &self.version.number;
        let warning = |message: String| Diagnostic::warning(codes::COMPILER_VERSION, message);
        let known = tables.versions.first().is_none_or(|oldest| oldest <= found)
            && (found < tables.newest() || begins_with(found, tables.newest()));
        let mut warnings = Diagnostics::new();
        if !known {
            let newest = tables.newest();
            let message = format!("`neuronx-cc` {} is not among the versions that the tables know", self.version.text);
            warnings.push(
                warning(message)
                    .note(format!("the newest they know is {newest}"))
                    .help("compare its release notes with the rules, and correct the tables of targets"),
            );
        }
        if !begins_with(found, assumed) {
            let message = format!(
                "the bundle was held to the rules of `neuronx-cc` {assumed}, and this is {}",
                self.version.text
            );
            warnings.push(warning(message).help(format!(
                "compile the bundle again with `--set neuron.compiler=\"{found}\"`, or use `neuronx-cc` {assumed}"
            )));
        }
        warnings
    }
}

/// Whether a version is the other one, or one of its builds.
fn begins_with(version: &CompilerVersion, other: &CompilerVersion) -> bool {
    version.0.starts_with(&other.0)
}

/// Returns the output of `--version`.
fn said(program: &Path, interrupt: &AtomicBool) -> Result<String> {
    let folder = tempfile::tempdir().map_err(|error| cannot("write to", &std::env::temp_dir(), &error))?;
    let path = folder.path().join("version.txt");
    let failed = |error: std::io::Error| unusable(program, &format!("cannot be run: {error}"));
    let file = File::create(&path).map_err(|error| cannot("write", &path, &error))?;
    let mut command = Command::new(program);
    command.arg("--version").current_dir(folder.path()).stdin(Stdio::null());
    let exit = process::run(&mut command, &file, Limits { timeout: Some(VERSION_TIMEOUT), interrupt });
    let text = process::end_of(&path);
    match exit.map_err(failed)? {
        Exit::Ended(status) if status.success() => Ok(text),
        Exit::Ended(status) => {
            let error = unusable(program, &format!("fails when it is asked for its version ({status})"));
            Err(error.note(format!("it printed: {}", excerpt(&text))))
        }
        Exit::TimedOut => {
            Err(unusable(program, &format!("does not say its version within {} s", VERSION_TIMEOUT.as_secs())))
        }
        Exit::Flooded => Err(unusable(program, "prints without end when it is asked for its version")),
        Exit::Interrupted => Err(Diagnostic::error(codes::COMPILER_STOPPED, "stopped before anything was compiled")),
    }
}

fn unusable(program: &Path, what: &str) -> Diagnostic {
    Diagnostic::error(codes::COMPILER_UNUSABLE, format!("`{}` {what}", program.display()))
}

/// The first line with something on it, not too much of it.
fn excerpt(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("nothing");
    line.chars().take(120).map(|character| if character.is_control() { '?' } else { character }).collect()
}

/// The version in what `--version` prints, whatever else is printed around it.
fn parse(text: &str) -> Option<Version> {
    text.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is = |word: &str, name: &str| word.eq_ignore_ascii_case(name);
        let after_words = words.windows(3).find(|three| is(three[0], "compiler") && is(three[1], "version"));
        let after_name = words.windows(2).find(|two| two[0] == PROGRAM);
        let word = after_words.map(|three| three[2]).or(after_name.map(|two| two[1]))?;
        let numbers = word.split('+').next()?;
        let number = CompilerVersion::try_from(numbers.to_owned()).ok().filter(|number| number.0.len() >= 2)?;
        Some(Version { text: word.to_owned(), number })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiler(text: &str) -> Compiler {
        Compiler { program: PathBuf::from(PROGRAM), version: parse(text).unwrap() }
    }

    #[test]
    fn versions_are_found_among_banners() {
        let real =
            "some banner\n\nNeuronX Compiler version 2.10.0.34+6c8792c6f\n\nPython version 3.8.10\nHWM version 2.10\n";
        let version = parse(real).unwrap();
        assert_eq!((version.text.as_str(), version.number.0), ("2.10.0.34+6c8792c6f", vec![2, 10, 0, 34]));
        assert_eq!(parse("neuronx-cc 2.27.5334").unwrap().number.0, [2, 27, 5334]);
        for garbage in ["", "Python version 3.8.10", "Compiler version two", "Compiler version 2", "\u{0}\u{1}"] {
            assert_eq!(parse(garbage), None, "{garbage:?}");
        }
    }

    #[test]
    fn other_versions_than_the_assumed_one_deserve_a_look() {
        let newest = Tables::builtin().newest();
        let now = compiler(&format!("NeuronX Compiler version {newest}.0+x"));
        assert_eq!(now.warnings(None), []);
        let messages = |text: &str| {
            let warnings = compiler(text).warnings(None);
            warnings.iter().map(|warning| warning.message().to_owned()).collect::<Vec<_>>()
        };
        let future = messages("NeuronX Compiler version 99.1.2");
        assert!(future.len() == 2 && future[0].contains("99.1.2") && future[1].contains("rules"), "{future:?}");
        assert_eq!(messages("NeuronX Compiler version 1.0").len(), 2);
    }

    #[test]
    fn a_program_that_is_not_there_is_missing() {
        let error = find(Some(Path::new("/none/neuronx-cc"))).unwrap_err();
        assert!(error.code() == codes::COMPILER_MISSING && error.message().contains("/none/neuronx-cc"), "{error}");
    }
}
