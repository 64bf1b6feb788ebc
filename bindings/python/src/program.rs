//! Programs that other frameworks made, as models.

use crate::builder::init;
use crate::errors::Failure;
use crate::work;
use halite::import::{self, Input, InputRole, Output, OutputRole, Signature};
use halite::support::{Diagnostics, SourceMap};
use halite::tensor::DType;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// A program in StableHLO with the roles of what it takes and gives.
#[pyclass(frozen)]
#[derive(Debug)]
pub(crate) struct Program {
    name: String,
    program: Arc<import::Program>,
    sources: SourceMap,
}

/// The name of a parameter, its role, and how it starts, a word with its numbers.
type Given = (String, String, (String, Vec<f64>));

impl Program {
    pub(crate) fn program(&self) -> Arc<import::Program> {
        self.program.clone()
    }

    pub(crate) fn sources(&self) -> &SourceMap {
        &self.sources
    }
}

#[pymethods]
impl Program {
    #[new]
    fn new(
        py: Python<'_>,
        name: String,
        text: &str,
        inputs: Vec<Given>,
        outputs: Vec<(String, String)>,
        causal: bool,
    ) -> PyResult<Self> {
        let inputs = inputs.into_iter().map(input).collect::<PyResult<_>>()?;
        let outputs = outputs.into_iter().map(output).collect::<PyResult<_>>()?;
        let signature = Signature { inputs, outputs, causal };
        work::run(py, |_| {
            let mut sources = SourceMap::new();
            match read(&mut sources, &name, text, signature) {
                Ok(program) => Ok(Self { name, program: Arc::new(program), sources }),
                Err(mistakes) => Err(Failure::new(mistakes, &sources)),
            }
        })
    }

    #[getter]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its weights that are several of the model, each with their names.
    fn stacks(&self) -> Vec<(String, Vec<String>)> {
        self.program.stacks().iter().map(|stack| (stack.name.clone(), stack.rows.clone())).collect()
    }

    /// Its roles as frontend attributes of a module, keys with their texts.
    fn roles(&self) -> Vec<(&'static str, String)> {
        self.program.roles().into()
    }

    /// It as a serialized HLO module, with its roles.
    fn hlo<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &halite::hlo::encode(&self.program.described()))
    }

    /// Its module as text, in `f32`.
    fn ir(&self, py: Python<'_>) -> PyResult<String> {
        work::run(py, |_| match self.program.elaborated(DType::F32) {
            Ok(model) => Ok(halite::ir::text::print(&model.module)),
            Err(mistakes) => Err(Failure::new(mistakes, &self.sources)),
        })
    }
}

fn read(sources: &mut SourceMap, name: &str, text: &str, signature: Signature) -> Result<import::Program, Diagnostics> {
    let id = sources.add(format!("<{name}.mlir>"), text);
    let hlo = halite_stablehlo::read(sources.known(id)?)?;
    import::Program::new(name, hlo, signature)
}

fn input((name, role, (kind, numbers)): Given) -> PyResult<Input> {
    let role = match role.as_str() {
        "batch" => InputRole::Batch,
        "weight" => InputRole::Weight(init(&kind, &numbers)?),
        "frozen" => InputRole::Frozen(init(&kind, &numbers)?),
        role => return Err(PyValueError::new_err(format!("`{role}` is no role of a parameter"))),
    };
    Ok(Input { name, role })
}

fn output((name, role): (String, String)) -> PyResult<Output> {
    let role = match role.as_str() {
        "loss" => OutputRole::Loss,
        "count" => OutputRole::Count,
        "shown" => OutputRole::Shown,
        role => return Err(PyValueError::new_err(format!("`{role}` is no role of a result"))),
    };
    Ok(Output { name, role })
}
