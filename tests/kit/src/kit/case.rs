//! A golden file and what suites do with it.

use crate::check::{Check, Comparison};
use crate::directives::Directives;
use crate::document::{Anchor, Document};
use crate::executable::executable;
use crate::literal::parse_inputs;
use crate::oracle::Oracle;
use crate::relation::{Tolerance, agree};
use crate::xla;
use halite::Session;
use halite_ir::{Interpreter, Module};
use halite_support::{Diagnostic, FileId, SourceMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A golden file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Case {
    /// Its path below the folder of the kit, without the extension: `opt/cse`.
    pub name: String,
    /// The path that it is read from and blessed at.
    pub path: PathBuf,
    /// All that it holds, the expectation too.
    pub text: String,
    /// The directives of its `//@` lines.
    pub directives: Directives,
    /// Its text, taken apart.
    pub document: Document,
    /// The file alone, for positions.
    pub sources: SourceMap,
    /// The file in `sources`.
    pub file: FileId,
    /// Models of what passes define.
    pub oracles: Vec<Arc<dyn Oracle>>,
}

/// The text that a suite expects in a file.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Outcome {
    /// The `//>` blocks: the place of each, and its text without the prefix.
    pub blocks: Vec<(Anchor, String)>,
}

impl Outcome {
    /// Expects these `//>` blocks and no others.
    pub fn new(blocks: impl IntoIterator<Item = (Anchor, String)>) -> Self {
        Self { blocks: blocks.into_iter().collect() }
    }
}

impl Case {
    /// Reads a file.
    pub(super) fn read(name: &str, path: &Path, oracles: &[Arc<dyn Oracle>]) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let directives = Directives::parse(&text)?;
        let mut sources = SourceMap::new();
        let shown = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let file = sources.add(shown, text.clone());
        let document = Document::new(&text);
        let (name, path, oracles) = (name.to_owned(), path.to_path_buf(), oracles.to_vec());
        Ok(Self { name, path, text, directives, document, sources, file, oracles })
    }

    /// The module in the file, verified.
    ///
    /// # Errors
    /// Its diagnostics with their lines.
    pub fn module(&self, session: &Session) -> Result<Module, String> {
        let module =
            halite_ir::text::parse(&self.text, self.file, &session.registry).map_err(|all| self.show_all(&all))?;
        halite_ir::verify(&module, &session.registry).map_err(|errors| self.show_all(&errors.into_diagnostics()))?;
        Ok(module)
    }

    /// Diagnostics for people.
    pub fn show_all(&self, diagnostics: &[Diagnostic]) -> String {
        diagnostics.iter().map(|diagnostic| self.show(diagnostic)).collect::<Vec<_>>().join("\n")
    }

    /// A diagnostic with its line, notes and help.
    pub fn show(&self, diagnostic: &Diagnostic) -> String {
        let line = diagnostic.primary().and_then(|label| Some(self.sources.position(label.span)?.line));
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
    pub fn execute(&self, module: &Module, session: &Session) -> Result<(), String> {
        for check in Check::parse_all(&self.text)? {
            let at = |error: String| format!("line {}: {error}", check.line);
            self.execute_one(&check, module, session).map_err(at)?;
        }
        Ok(())
    }

    fn execute_one(&self, check: &Check, module: &Module, session: &Session) -> Result<(), String> {
        let id = module.find(&check.function).ok_or_else(|| format!("there is no `@{}`", check.function))?;
        let function = module.function(id);
        let inputs = parse_inputs(&check.inputs, &function.param_types())?;
        let expected = parse_inputs(&check.outputs, &function.result_types())?;
        let run = Interpreter::of(module, &session.registry).run(function, inputs.clone());
        let found = run.map_err(|error| format!("interpreter: {}", self.show(&error)))?;
        let near = Tolerance::Ulps(self.directives.tolerance);
        let tolerance = if check.comparison == Comparison::Near { near } else { Tolerance::Bits };
        agree(&found, &expected, tolerance).map_err(|error| format!("interpreter: {error}"))?;
        let hlo = executable(module, &check.function, &session.registry).map_err(|error| self.show(&error))?;
        let found = xla::evaluate(&hlo, &inputs)?;
        agree(&found, &expected, near).map_err(|error| format!("CPU XLA: {error}"))
    }
}
