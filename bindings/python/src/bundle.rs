//! Bundles.

use crate::work;
use halite::Session;
use halite::support::Diagnostic;
use halite_stablehlo::Form;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::borrow::Cow;
use std::path::PathBuf;

/// A bundle in memory.
#[pyclass(frozen)]
#[derive(Debug)]
pub(crate) struct Bundle(halite::Bundle);

impl From<halite::Bundle> for Bundle {
    fn from(bundle: halite::Bundle) -> Self {
        Self(bundle)
    }
}

impl Bundle {
    pub(crate) fn inner(&self) -> &halite::Bundle {
        &self.0
    }

    /// The bytes of a module; `decomposed` without calls of kernels.
    pub(crate) fn hlo_of(&self, module: &str, decomposed: bool) -> Result<Cow<'_, [u8]>, Diagnostic> {
        let module = self.0.module(module)?;
        if decomposed { self.0.runnable_hlo(module) } else { Ok(self.0.hlo(module)?.into()) }
    }
}

#[pymethods]
impl Bundle {
    /// The bundle in a folder.
    #[staticmethod]
    fn read(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        work::run(py, |_| Ok(Self(Session::new().read_bundle(&folder)?)))
    }

    /// Writes the folder, whole or not at all.
    fn write(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        work::run(py, |_| Ok(self.0.write(&folder)?))
    }

    /// The manifest as JSON.
    fn manifest(&self) -> String {
        self.0.manifest_json()
    }

    /// The names of its files beside the manifest.
    fn files(&self) -> Vec<&str> {
        self.0.files.keys().map(String::as_str).collect()
    }

    /// The bytes of a file.
    fn file<'py>(&self, py: Python<'py>, name: &str) -> Option<Bound<'py, PyBytes>> {
        self.0.files.get(name).map(|bytes| PyBytes::new(py, bytes))
    }

    /// The serialized `HloModuleProto` of a module; with `decomposed`, without calls of kernels.
    fn hlo<'py>(&self, py: Python<'py>, module: &str, decomposed: bool) -> PyResult<Bound<'py, PyBytes>> {
        let hlo = work::run(py, |_| Ok(self.hlo_of(module, decomposed)?))?;
        Ok(PyBytes::new(py, &hlo))
    }

    /// A module as StableHLO.
    fn stablehlo(&self, py: Python<'_>, module: &str, decomposed: bool) -> PyResult<String> {
        work::run(py, |_| {
            let form = Form::Program { num_replicas: self.0.manifest.mesh.num_ranks() };
            Ok(halite_stablehlo::translate(&self.hlo_of(module, decomposed)?, form)?)
        })
    }
}
