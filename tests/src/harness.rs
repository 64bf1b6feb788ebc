//! Finding golden files and running each as a test.

use crate::check::{Check, Comparison};
use crate::directives::Directives;
use crate::document::{Anchor, Document};
use crate::executable::executable;
use crate::executions::{Execution, Executions};
use crate::literal::parse_inputs;
use crate::relation::{Tolerance, agree};
use crate::suites::{self, Suite};
use halite_ir::{Interpreter, Module, Registry};
use halite_passes::PassRegistry;
use halite_support::{Diagnostic, FileId, SourceMap};
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Runs the golden files below a folder, which has one folder for each suite.
#[derive(Debug)]
pub struct Harness {
    root: PathBuf,
    bless_command: String,
    tools: Tools,
    suites: Vec<Arc<dyn Suite>>,
}

/// What suites work with.
#[derive(Debug)]
pub struct Tools {
    /// The composites.
    pub registry: Registry,
    /// The passes.
    pub passes: PassRegistry,
    /// Programs sent to CPU XLA.
    pub executions: Executions,
}

/// A golden file.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its path below the root, without the extension: `opt/cse`.
    pub name: String,
    /// Its path.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// Its directives.
    pub directives: Directives,
    /// Its text, taken apart.
    pub document: Document,
    /// The file alone, for positions.
    pub sources: SourceMap,
    /// The file in `sources`.
    pub file: FileId,
}

/// What a suite expects to find in the file and beside it.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The `//>` blocks.
    pub blocks: Vec<(Anchor, String)>,
    /// The text of the sibling file, for suites that have one.
    pub sibling: Option<String>,
}

impl Harness {
    /// A harness with the built-in suites, passes and composites.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let tools =
            Tools { registry: Registry::builtin(), passes: PassRegistry::builtin(), executions: Executions::default() };
        Self { root: root.into(), bless_command: "cargo bless".to_owned(), tools, suites: suites::builtin() }
    }

    /// With these passes.
    #[must_use]
    pub fn with_passes(mut self, passes: PassRegistry) -> Self {
        self.tools.passes = passes;
        self
    }

    /// With these composites.
    #[must_use]
    pub fn with_registry(mut self, registry: Registry) -> Self {
        self.tools.registry = registry;
        self
    }

    /// With another suite.
    #[must_use]
    pub fn with_suite(mut self, suite: Arc<dyn Suite>) -> Self {
        self.suites.push(suite);
        self
    }

    /// What a failing test tells people to run; the name of the test is added.
    #[must_use]
    pub fn bless_command(mut self, command: impl Into<String>) -> Self {
        self.bless_command = command.into();
        self
    }

    /// Runs as the main function of a test without the standard harness. Takes the arguments of `cargo test`, and
    /// `--bless` to rewrite expectations.
    #[allow(clippy::print_stdout, reason = "the main function of a test program")]
    pub fn main(self) -> ExitCode {
        let bless = std::env::args().any(|argument| argument == "--bless");
        let arguments = Arguments::from_iter(std::env::args().filter(|argument| argument != "--bless"));
        let harness = Arc::new(self);
        let trials = match harness.trials(bless) {
            Ok(trials) => trials,
            Err(error) => {
                println!("{}: {error}", harness.root.display());
                return ExitCode::FAILURE;
            }
        };
        let conclusion = libtest_mimic::run(&arguments, trials);
        let executions = &harness.tools.executions;
        println!("{} programs went through CPU XLA", executions.done());
        if let (1.., Err(reason)) = (executions.skipped(), crate::xla::try_client()) {
            println!("{} programs were not executed: {reason}", executions.skipped());
            println!("{}; a skipped execution fails the run", reason.help_text().unwrap_or_default());
            return ExitCode::FAILURE;
        }
        conclusion.exit_code()
    }

    /// One test for each file; files that belong to none are tests that fail.
    fn trials(self: &Arc<Self>, bless: bool) -> std::io::Result<Vec<Trial>> {
        let mut trials = Vec::new();
        for path in files(&self.root)? {
            let inside = path.strip_prefix(&self.root).unwrap_or(&path).to_path_buf();
            let folder = inside.components().next().map(|part| part.as_os_str().to_string_lossy().into_owned());
            let suite = self.suites.iter().find(|suite| Some(suite.name()) == folder.as_deref()).cloned();
            let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
            let name = inside.with_extension("").to_string_lossy().replace('\\', "/");
            let harness = self.clone();
            trials.push(match suite {
                Some(suite) if suite.extensions().contains(&extension) => {
                    Trial::test(name.clone(), move || harness.run(&*suite, name, &path, bless).map_err(Failed::from))
                }
                Some(suite) if suite.sibling() == Some(extension) => {
                    if suite.extensions().iter().any(|own| path.with_extension(own).exists()) {
                        continue;
                    }
                    stale(name + "." + extension, "there is no test beside it; remove it")
                }
                _ => stale(name + "." + extension, "no suite reads it"),
            });
        }
        Ok(trials)
    }

    fn run(&self, suite: &dyn Suite, name: String, path: &Path, bless: bool) -> Result<(), String> {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        let case = Case::new(name, path, text)?;
        if case.directives.suite != suite.name() {
            let (found, expected) = (&case.directives.suite, suite.name());
            return Err(format!("the file says `suite: {found}`, its folder is `{expected}`"));
        }
        let outcome = suite.run(&case, &self.tools)?;
        let expected = case.document.with_expected(&outcome.blocks);
        let sibling = suite.sibling().map(|extension| path.with_extension(extension));
        if bless {
            return write(path, &expected).and_then(|()| match sibling.zip(outcome.sibling) {
                Some((path, text)) => write(&path, &text),
                None => Ok(()),
            });
        }
        let told = |diff| format!("{diff}\nif this is right, run `{} {}`", self.bless_command, case.name);
        case.document.compare(&expected).map_err(told)?;
        if let Some((path, text)) = sibling.zip(outcome.sibling) {
            let found = std::fs::read_to_string(&path).unwrap_or_default();
            crate::document::compare_texts(&found, &text).map_err(told)?;
        }
        Ok(())
    }
}

fn stale(name: String, why: &'static str) -> Trial {
    Trial::test(name, move || Err(Failed::from(why)))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The files below a folder, sorted.
fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

impl Case {
    fn new(name: String, path: &Path, text: String) -> Result<Self, String> {
        let directives = Directives::parse(&text)?;
        let mut sources = SourceMap::new();
        let shown = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let file = sources.add(shown, text.clone());
        let document = Document::new(text.clone());
        Ok(Self { name, path: path.to_path_buf(), text, directives, document, sources, file })
    }

    /// The module in the file, verified.
    ///
    /// # Errors
    /// Its diagnostics with their lines.
    pub fn module(&self, tools: &Tools) -> Result<Module, String> {
        let module =
            halite_ir::text::parse(&self.text, self.file, &tools.registry).map_err(|all| self.show_all(&all))?;
        halite_ir::verify(&module, &tools.registry).map_err(|errors| errors.to_string())?;
        Ok(module)
    }

    /// Diagnostics for people.
    pub fn show_all(&self, diagnostics: &[Diagnostic]) -> String {
        diagnostics.iter().map(|diagnostic| self.show(diagnostic)).collect::<Vec<_>>().join("\n")
    }

    /// A diagnostic with its line, notes and help.
    pub fn show(&self, diagnostic: &Diagnostic) -> String {
        let line = diagnostic.primary().map(|label| self.sources.position(label.span).line);
        let mut text = line.map_or(String::new(), |line| format!("line {line}: ")) + &diagnostic.to_string();
        for note in diagnostic.notes() {
            text.push_str(&format!("\nnote: {note}"));
        }
        if let Some(help) = diagnostic.help_text() {
            text.push_str(&format!("\nhelp: {help}"));
        }
        text
    }

    /// Executes the `//$` lines on a module, on the interpreter and on CPU XLA.
    ///
    /// # Errors
    /// Naming the first line that fails.
    pub fn execute(&self, module: &Module, tools: &Tools) -> Result<(), String> {
        for check in Check::parse_all(&self.text)? {
            let at = |error: String| format!("line {}: {error}", check.line);
            self.execute_one(&check, module, tools).map_err(at)?;
        }
        Ok(())
    }

    fn execute_one(&self, check: &Check, module: &Module, tools: &Tools) -> Result<(), String> {
        let id = module.find(&check.function).ok_or_else(|| format!("there is no `@{}`", check.function))?;
        let function = module.function(id);
        let inputs = parse_inputs(&check.inputs, &function.param_types())?;
        let expected = parse_inputs(&check.outputs, &function.result_types())?;
        let run = Interpreter::of(module, &tools.registry).run(function, inputs.clone());
        let found = run.map_err(|error| format!("interpreter: {}", self.show(&error)))?;
        let near = Tolerance::Ulps(self.directives.tolerance);
        let tolerance = if check.comparison == Comparison::Near { near } else { Tolerance::Bits };
        agree(&found, &expected, tolerance).map_err(|error| format!("interpreter: {error}"))?;
        let hlo = executable(module, &check.function, &tools.registry).map_err(|error| self.show(&error))?;
        match tools.executions.run(&hlo, &inputs)? {
            Execution::Done(found) => agree(&found, &expected, near).map_err(|error| format!("CPU XLA: {error}")),
            Execution::Skipped => Ok(()),
        }
    }
}
