//! The parts of a bundle that programs of JAX need.

use crate::bundle::Bundle;
use crate::tensors::{Array, Given, from_python, to_python};
use crate::work;
use halite::bundle::check_ranges;
use halite::bundle::convert::{to_model, to_stored};
use halite::support::Diagnostics;
use halite_neuron::settings::{Mismatch, mismatches};
use halite_stablehlo::{Form, Functions};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::BTreeMap;

/// A module as StableHLO functions of a program whose partitions are the ranks; the entry is named by the prefix.
#[pyfunction]
pub(crate) fn functions(
    py: Python<'_>,
    bundle: &Bundle,
    module: &str,
    prefix: &str,
    decomposed: bool,
) -> PyResult<String> {
    work::run(py, |_| {
        let num_partitions = bundle.inner().manifest.num_ranks();
        let form = Form::Functions(Functions { prefix, num_partitions, first_channel: 1 });
        Ok(halite_stablehlo::translate(&bundle.hlo_of(module, decomposed)?, form)?)
    })
}

/// Refuses an environment that is not what programs of JAX with this bundle need.
#[pyfunction]
pub(crate) fn check_environment(
    py: Python<'_>,
    bundle: &Bundle,
    environment: BTreeMap<String, String>,
) -> PyResult<()> {
    work::run(py, |_| {
        let found = environment.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let wrong: Diagnostics = mismatches(&bundle.inner().manifest, found).iter().map(Mismatch::diagnostic).collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.into()) }
    })
}

/// Refuses numbers of a batch that are out of the range that a module takes.
#[pyfunction]
pub(crate) fn check_numbers(
    py: Python<'_>,
    bundle: &Bundle,
    module: &str,
    batch: Vec<(String, Array)>,
) -> PyResult<()> {
    let batch = from_python(batch)?;
    work::run(py, |_| Ok(check_ranges(&bundle.inner().module(module)?.inputs, &batch)?))
}

/// Tensors of the model as the bundle stores them.
#[pyfunction]
pub(crate) fn pack<'py>(
    py: Python<'py>,
    bundle: &Bundle,
    state: Vec<(String, Array)>,
) -> PyResult<Vec<(String, Given<'py>)>> {
    let state = from_python(state)?;
    let stored = work::run(py, |_| Ok(to_stored(&bundle.inner().manifest, state)?))?;
    Ok(to_python(py, stored))
}

/// Converts a state from the buffers that the bundle stores to the tensors of the model.
#[pyfunction]
pub(crate) fn unpack<'py>(
    py: Python<'py>,
    bundle: &Bundle,
    state: Vec<(String, Array)>,
) -> PyResult<Vec<(String, Given<'py>)>> {
    let state = from_python(state)?;
    let tensors = work::run(py, |_| Ok(to_model(&bundle.inner().manifest, state)?))?;
    Ok(to_python(py, tensors))
}

/// The initial state of training, part by part, as a bundle stores it.
#[pyclass(frozen)]
pub(crate) struct Initial(halite::bundle::init::Initial);

#[pymethods]
impl Initial {
    #[new]
    fn new(py: Python<'_>, bundle: &Bundle, seed: u64) -> PyResult<Self> {
        work::here(py, || Ok(Self(halite::bundle::init::Initial::new(&bundle.inner().manifest, seed)?)))
    }

    /// The elements of a buffer in these ranges of its dimensions, row by row.
    fn part<'py>(&self, py: Python<'py>, buffer: &str, ranges: Vec<(usize, usize)>) -> PyResult<Bound<'py, PyBytes>> {
        let ranges: Vec<_> = ranges.into_iter().map(|(start, end)| start..end).collect();
        let part = work::run(py, |_| Ok(self.0.part(buffer, &ranges)?))?;
        Ok(PyBytes::new(py, part.bytes()))
    }
}
