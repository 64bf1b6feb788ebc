//! Diagnostics as exceptions.

use halite::runtime::RuntimeError;
use halite::support::{Diagnostic, Diagnostics, SourceMap};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// What was wrong, with the texts that it points into.
#[derive(Debug)]
pub(crate) struct Failure {
    diagnostics: Diagnostics,
    sources: SourceMap,
}

impl Failure {
    pub(crate) fn new(diagnostics: impl Into<Diagnostics>, sources: &SourceMap) -> Self {
        Self { diagnostics: diagnostics.into(), sources: sources.clone() }
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

/// A diagnostic as Python gets it: as JSON, and as a report for people.
pub(crate) type Reported = (String, String);

pub(crate) fn reported(diagnostics: &Diagnostics, sources: &SourceMap) -> Vec<Reported> {
    let one = |diagnostic| {
        let report = halite_report::report(diagnostic, sources, halite_report::Style::default());
        (halite_report::json(diagnostic, sources), report)
    };
    diagnostics.iter().map(one).collect()
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::new(diagnostic, &SourceMap::new())
    }
}

impl From<RuntimeError> for Failure {
    fn from(error: RuntimeError) -> Self {
        Diagnostic::from(error).into()
    }
}

impl From<Diagnostics> for Failure {
    fn from(diagnostics: Diagnostics) -> Self {
        Self::new(diagnostics, &SourceMap::new())
    }
}
