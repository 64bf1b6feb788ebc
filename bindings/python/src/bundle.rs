//! Bundles.

use crate::json::in_order;
use crate::tensors::{Array, Given, from_python, to_python};
use crate::work;
use halite::Session;
use halite::bundle::ModuleEntry;
use halite::bundle::convert::{Conversion, Form};
use halite::bundle::init::{self, Initial};
use halite::bundle::tensors::Tensors;
use halite::hlo;
use halite::inspect::{Summary, groups, hlo as figures};
use halite::support::Diagnostic;
use halite::tensor::DType;
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

    fn summary(&self, module: &ModuleEntry, depth: usize) -> Result<Summary, Diagnostic> {
        let graph = hlo::graph::Graph::new(hlo::decode(self.0.hlo(module)?)?);
        figures::summarize(&graph, depth)
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

    /// The bytes of a file.
    fn file<'py>(&self, py: Python<'py>, name: &str) -> Option<Bound<'py, PyBytes>> {
        self.0.files.get(name).map(|bytes| PyBytes::new(py, bytes))
    }

    /// The serialized `HloModuleProto` of a module; with `decomposed`, without calls of kernels.
    fn hlo<'py>(&self, py: Python<'py>, module: &str, decomposed: bool) -> PyResult<Bound<'py, PyBytes>> {
        let hlo = work::run(py, |_| Ok(self.hlo_of(module, decomposed)?))?;
        Ok(PyBytes::new(py, &hlo))
    }

    /// The same as text.
    fn hlo_text(&self, py: Python<'_>, module: &str, decomposed: bool) -> PyResult<String> {
        work::run(py, |_| Ok(hlo::text::print(&hlo::decode(&self.hlo_of(module, decomposed)?)?)))
    }

    /// A module as StableHLO.
    fn stablehlo(&self, py: Python<'_>, module: &str, decomposed: bool) -> PyResult<String> {
        work::run(py, |_| {
            let hlo = self.hlo_of(module, decomposed)?;
            let form = halite_stablehlo::Form::Program { num_replicas: self.0.manifest.num_ranks() };
            Ok(halite_stablehlo::translate(&hlo, form)?)
        })
    }

    /// Figures of each module, by scopes of so many levels, and of each group of parameters, as JSON.
    fn inspect(&self, py: Python<'_>, depth: usize) -> PyResult<String> {
        work::run(py, |_| {
            let modules = self.0.manifest.modules.iter().map(|module| self.summary(module, depth));
            let modules = modules.collect::<Result<Vec<_>, _>>()?;
            // In the order that they have, which a `Value` would lose.
            Ok(in_order(&(modules, groups::summarize(&self.0.manifest))))
        })
    }

    /// The state of a seed, which is that of the recipe unless another is given.
    fn init<'py>(
        &self,
        py: Python<'py>,
        seed: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<(String, Given<'py>)>> {
        let manifest = &self.0.manifest;
        let state = work::told(py, progress, |work| {
            let (mut done, mut state) = (0, Tensors::new());
            for tensor in Initial::new(manifest, seed.unwrap_or(manifest.recipe.train.seed))?.tensors() {
                let (name, tensor) = tensor?;
                done += tensor.bytes().len() as u64;
                work.step(&name, done, Some(manifest.statistics.state_bytes))?;
                state.insert(name, tensor);
            }
            Ok(state)
        })?;
        Ok(to_python(py, state))
    }

    /// The state that starts from the weights in a file, shards or a folder.
    fn init_from_checkpoint<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Vec<(String, Given<'py>)>> {
        let state = work::run(py, |_| Ok(init::state_from_checkpoint(&self.0.manifest, &path)?))?;
        Ok(to_python(py, state))
    }

    /// The state that starts from weights.
    fn init_from_weights<'py>(
        &self,
        py: Python<'py>,
        weights: Vec<(String, Array)>,
    ) -> PyResult<Vec<(String, Given<'py>)>> {
        let weights = from_python(weights)?;
        let state = work::run(py, |_| Ok(init::state_from_weights(&self.0.manifest, weights)?))?;
        Ok(to_python(py, state))
    }

    /// Tensors as the model has them, or with `stored` as the bundle stores them, in either form before.
    fn convert<'py>(
        &self,
        py: Python<'py>,
        tensors: Vec<(String, Array)>,
        stored: bool,
        dtype: Option<&str>,
        weights_only: bool,
    ) -> PyResult<Vec<(String, Given<'py>)>> {
        let tensors = from_python(tensors)?;
        let converted = work::run(py, |_| {
            let to = if stored { Form::Stored } else { Form::Model };
            let conversion = Conversion { to, dtype: dtype.and_then(DType::parse), weights_only };
            Ok(conversion.apply(&self.0.manifest, tensors)?)
        })?;
        Ok(to_python(py, converted))
    }
}
