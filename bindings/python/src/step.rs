//! Updates one by one, through Halite's own runtime.

use crate::bundle::Bundle;
use crate::errors::Failure;
use crate::tensors::{Array, from_python, to_python};
use crate::{plugin, work};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// A compiled step with its state, on the devices of a PJRT plugin.
#[pyclass(frozen)]
pub(crate) struct TrainStep(Mutex<halite_train::TrainStep>);

impl TrainStep {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut halite_train::TrainStep) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        work::run(py, |_| work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[pymethods]
impl TrainStep {
    #[new]
    fn load(py: Python<'_>, bundle: &Bundle, plugin: Option<PathBuf>, stablehlo: bool) -> PyResult<Self> {
        work::run(py, |_| {
            let executor = plugin::open(plugin.as_deref(), bundle.inner(), stablehlo)?;
            Ok(Self(Mutex::new(halite_train::TrainStep::load(executor, bundle.inner())?)))
        })
    }

    fn init(&self, py: Python<'_>, seed: u64) -> PyResult<()> {
        self.with(py, |step| Ok(step.init_state(seed)?))
    }

    fn step(&self, py: Python<'_>, batch: Vec<(String, Array)>) -> PyResult<Vec<(String, f64)>> {
        let batch = from_python(batch)?;
        self.with(py, |step| Ok(step.step(&batch)?.into_map().into_iter().collect()))
    }

    fn set_state(&self, py: Python<'_>, state: Vec<(String, Array)>) -> PyResult<()> {
        let state = from_python(state)?;
        self.with(py, |step| Ok(step.set_state(state)?))
    }

    fn state<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, crate::tensors::Given<'py>)>> {
        let state = self.with(py, |step| Ok(step.state()?))?;
        Ok(to_python(py, state))
    }
}
