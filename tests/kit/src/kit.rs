//! Finding golden files and running each as a test.

mod case;

pub use case::{Case, Outcome};

use crate::document::compare_texts;
use crate::oracle::Oracle;
use crate::suites::{self, Suite};
use halite::Session;
use libtest_mimic::{Arguments, Failed, Trial};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// The environment variable that blesses.
const BLESS: &str = "HALITE_BLESS";

/// Tests the golden files below a folder, which has one folder for each suite.
///
/// [`Kit::run`] is the main function of a test, [`Kit::check`] gives what it finds as values.
#[derive(Debug)]
pub struct Kit {
    session: Session,
    folder: PathBuf,
    suites: Vec<Arc<dyn Suite>>,
    oracles: Vec<Arc<dyn Oracle>>,
    bless_command: Option<String>,
}

/// The treatment of text in golden files that differs from what is expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// The test fails.
    Check,
    /// The file is rewritten.
    Bless,
}

impl Mode {
    /// [`Mode::Bless`] where the environment variable `HALITE_BLESS` is `1`.
    pub fn from_environment() -> Self {
        if std::env::var_os(BLESS).is_some_and(|value| value == "1") { Self::Bless } else { Self::Check }
    }
}

/// The result for a golden file.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Its path below the folder, without the extension: `opt/cse`.
    pub name: String,
    /// An error for people, of several lines.
    pub result: Result<(), String>,
}

/// A file, and the suite that reads it, or why none does.
struct Test {
    name: String,
    path: PathBuf,
    suite: Result<Arc<dyn Suite>, String>,
}

impl Kit {
    /// The golden files below `folder`, with the composites, passes, kernels and pipelines of a session and the built-in
    /// suites. A relative folder is one of the current directory, which `cargo test` makes that of the package.
    pub fn new(session: Session, folder: impl Into<PathBuf>) -> Self {
        Self { session, folder: folder.into(), suites: suites::builtin(), oracles: Vec::new(), bless_command: None }
    }

    /// With another suite, which comes before a built-in one of the same name.
    #[must_use]
    pub fn suite(mut self, suite: Arc<dyn Suite>) -> Self {
        self.suites.insert(0, suite);
        self
    }

    /// With models of what passes define; of several that know a pass the first counts.
    #[must_use]
    pub fn oracle(mut self, oracle: Arc<dyn Oracle>) -> Self {
        self.oracles.push(oracle);
        self
    }

    /// Sets the command that a failing test tells people to run, with the name of the test after it. Without it, the message names
    /// `HALITE_BLESS`.
    #[must_use]
    pub fn bless_command(mut self, command: impl Into<String>) -> Self {
        self.bless_command = Some(command.into());
        self
    }

    /// Runs as the main function of a test without the standard harness, one test for each file.
    ///
    /// It takes the arguments that `cargo test` passes on (a filter, `--exact`, `--list`, `--test-threads`) and `--bless`,
    /// which rewrites expectations; the environment variable `HALITE_BLESS=1` does the same. Wrong arguments end the
    /// process.
    pub fn run(self) -> ExitCode {
        let (bless, arguments): (Vec<OsString>, Vec<_>) =
            std::env::args_os().partition(|argument| argument == "--bless");
        let mode = if bless.is_empty() { Mode::from_environment() } else { Mode::Bless };
        libtest_mimic::run(&Arguments::from_iter(arguments), self.trials(mode)).exit_code()
    }

    /// Tests every file, one after the other in the order of their paths, and says what became of each.
    ///
    /// # Errors
    /// When the folder cannot be read or has no files.
    pub fn check(&self, mode: Mode) -> Result<Vec<Report>, String> {
        let tests = self.tests()?.into_iter();
        Ok(tests.map(|test| Report { result: self.perform(&test, mode), name: test.name }).collect())
    }

    /// The golden files of a suite, read.
    ///
    /// # Errors
    /// When the folder or one of them cannot be read.
    pub fn cases(&self, suite: &str) -> Result<Vec<Case>, String> {
        let of_suite = |test: &Test| test.suite.as_ref().is_ok_and(|own| own.name() == suite);
        self.tests()?.iter().filter(|test| of_suite(test)).map(|test| self.read(test)).collect()
    }

    fn trials(self, mode: Mode) -> Vec<Trial> {
        let kit = Arc::new(self);
        let trial = |test: Test| {
            let kit = kit.clone();
            Trial::test(test.name.clone(), move || kit.perform(&test, mode).map_err(Failed::from))
        };
        match kit.tests() {
            Ok(tests) => tests.into_iter().map(trial).collect(),
            Err(error) => vec![Trial::test("golden files", move || Err(Failed::from(error)))],
        }
    }

    fn tests(&self) -> Result<Vec<Test>, String> {
        let at = |problem: &dyn std::fmt::Display| format!("{}: {problem}", self.folder.display());
        let files = files(&self.folder).map_err(|error| at(&error))?;
        let tests: Vec<Test> = files.into_iter().map(|path| self.test(path)).collect();
        if tests.is_empty() { Err(at(&"there are no golden files")) } else { Ok(tests) }
    }

    /// The test that a file is. One that no suite reads is a test that fails.
    fn test(&self, path: PathBuf) -> Test {
        let inside = path.strip_prefix(&self.folder).unwrap_or(&path);
        let suite = self.suite_of(inside).and_then(|suite| reads(&*suite, inside).map(|()| suite));
        let shown = if suite.is_ok() { inside.with_extension("") } else { inside.to_path_buf() };
        Test { name: shown.to_string_lossy().replace('\\', "/"), path, suite }
    }

    /// The suite that the first folder of a path names.
    fn suite_of(&self, inside: &Path) -> Result<Arc<dyn Suite>, String> {
        let folder = inside.parent().and_then(|folder| folder.components().next());
        let folder = folder.map(|folder| folder.as_os_str().to_string_lossy()).unwrap_or_default();
        let suite = self.suites.iter().find(|suite| suite.name() == folder).cloned();
        suite.ok_or_else(|| {
            let names: Vec<_> = self.suites.iter().map(|suite| suite.name()).collect();
            format!("the folder `{folder}` is no suite; suites are {}", names.join(", "))
        })
    }

    fn read(&self, test: &Test) -> Result<Case, String> {
        Case::read(&test.name, &test.path, &self.oracles)
    }

    fn perform(&self, test: &Test, mode: Mode) -> Result<(), String> {
        let suite = test.suite.as_ref().map_err(String::clone)?;
        let case = self.read(test)?;
        case.directives.belong_to(suite.name())?;
        let outcome = suite.run(&case, &self.session)?;
        let expected = case.document.with_expected(&outcome.blocks);
        match mode {
            Mode::Check => {
                compare_texts(&case.text, &expected).map_err(|diff| format!("{diff}\n{}", self.remedy(&test.name)))
            }
            Mode::Bless => {
                std::fs::write(&test.path, &expected).map_err(|error| format!("{}: {error}", test.path.display()))
            }
        }
    }

    fn remedy(&self, name: &str) -> String {
        match &self.bless_command {
            Some(command) => format!("if this is right, run `{command} {name}`"),
            None => format!("if this is right, run the test with `{BLESS}=1`: it rewrites the file"),
        }
    }
}

fn reads(suite: &dyn Suite, path: &Path) -> Result<(), String> {
    let extensions = suite.extensions();
    if extensions.iter().any(|extension| path.extension().is_some_and(|own| own == *extension)) {
        return Ok(());
    }
    Err(format!("the suite `{}` reads `.{}`; move the file or remove it", suite.name(), extensions.join("`, `.")))
}

/// The files below a folder, sorted. Names with a leading dot belong to editors and file systems.
fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
