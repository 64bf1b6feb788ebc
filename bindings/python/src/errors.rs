//! Diagnostics as exceptions.

use halite::support::{Diagnostic, Diagnostics, SourceMap, codes};
use halite_report::{Style, json, report};
use halite_runtime::RuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The diagnostics of a failure, with the texts that they point into.
#[derive(Debug)]
pub(crate) struct Failure {
    diagnostics: Diagnostics,
    sources: SourceMap,
}

impl Failure {
    pub(crate) fn new(diagnostics: impl Into<Diagnostics>, sources: &SourceMap) -> Self {
        Self { diagnostics: diagnostics.into(), sources: sources.clone() }
    }

    /// Whether all of it is that the work was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.diagnostics.iter().all(|diagnostic| diagnostic.code() == codes::CANCELLED)
    }

    /// The exception: `halite.Error` of these diagnostics.
    pub(crate) fn raise(&self, py: Python<'_>) -> PyErr {
        static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let make = || {
            let module = py.import("halite.errors")?;
            PyResult::Ok(module.getattr("error_of")?.unbind())
        };
        let exception = || MAKE.get_or_try_init(py, make)?.call1(py, (reported(&self.diagnostics, &self.sources),));
        exception().map_or_else(|error| error, |exception| PyErr::from_value(exception.into_bound(py)))
    }
}

/// A diagnostic as Python gets it: as JSON, as a report for people, and as one with colors.
pub(crate) type Reported = (String, String, String);

/// Words of the command line, each with those of the Python package that replace it.
const OURS: [(&str, &str); 28] = [
    ("run `halite plugin install`", "call `halite.install_plugin()`"),
    (
        "leave it out, as `halite convert --weights-only` does,",
        "leave it out, as `Bundle.convert(.., weights_only=True)` does,",
    ),
    ("`halite train --help` has", "`help(halite.train)` has"),
    (
        "of a run as INPUT or with `--state`, or a checkpoint with `--weights`",
        "of a run, here or as `state`, or a checkpoint as `weights`",
    ),
    (
        "as `halite verify` does with a recipe; with `--deny unproven` this fails",
        "as `halite.verify` does with a recipe",
    ),
    ("the temperature is ", "`temperature` is "),
    ("top-p is ", "`top_p` is "),
    ("`--top-p`", "`top_p`"),
    ("`--role`", "`roles`"),
    ("`--samples`", "`samples`"),
    ("`--allow-changes`", "`allow_changes=True`"),
    ("`--checkpoint-every`", "`checkpoint_every`"),
    ("`--data`", "`data`"),
    ("`--dtype ", "`dtype="),
    ("`--plugin`", "`plugin`"),
    ("`--resume ", "`resume="),
    ("with `--role ", "with the role `"),
    ("`--seed`", "`seed`"),
    ("`--set ", "`"),
    // Of a place in an override: in the JSON, in a report, and in one with colors.
    ("\"--set ", "\""),
    ("[--set ", "["),
    ("4m--set ", "4m"),
    ("`--state`", "`state`"),
    ("`--target`", "`target`"),
    ("`--tokenizer`", "`tokenizer`"),
    ("`--weights`", "`weights`"),
    ("`--wheel`", "`wheel`"),
    ("`-o`", "`output`"),
];

fn ours(text: String) -> String {
    OURS.iter().fold(text, |text, (there, here)| text.replace(there, here))
}

pub(crate) fn reported(diagnostics: &Diagnostics, sources: &SourceMap) -> Vec<Reported> {
    let one = |diagnostic| {
        let report = |color| ours(report(diagnostic, sources, Style { color, ..Style::default() }));
        (ours(json(diagnostic, sources)), report(false), report(true))
    };
    diagnostics.iter().map(one).collect()
}

/// An error that Python found.
#[pyfunction]
pub(crate) fn found(code: &str, message: String, notes: Vec<String>, help: String) -> Reported {
    let code = codes::ALL.iter().find(|known| known.id == code).copied().unwrap_or(codes::INTERNAL);
    let error = notes.into_iter().fold(Diagnostic::error(code, message), Diagnostic::note);
    reported(&error.help(help).into(), &SourceMap::new()).swap_remove(0)
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::new(diagnostic, &SourceMap::new())
    }
}

impl From<Diagnostics> for Failure {
    fn from(diagnostics: Diagnostics) -> Self {
        Self::new(diagnostics, &SourceMap::new())
    }
}

impl From<RuntimeError> for Failure {
    fn from(error: RuntimeError) -> Self {
        Diagnostic::from(error).into()
    }
}
