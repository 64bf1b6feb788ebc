//! What is compiled.

use crate::builder::Built;
use crate::bundle::Bundle;
use crate::errors::{Failure, Reported, reported};
use crate::work;
use halite::Session;
use halite::bundle::ModuleRole;
use halite::compile::CompileOptions;
use halite::source::{ModelInput, Source as Loaded};
use halite::support::Diagnostics;
use pyo3::prelude::*;

/// A recipe with its model, and the session that loaded it, which has their texts.
#[pyclass(frozen)]
#[derive(Debug)]
pub(crate) struct Source {
    session: Session,
    loaded: Loaded,
}

impl Source {
    fn new(load: impl FnOnce(&mut Session) -> Result<Loaded, Diagnostics>) -> Result<Self, Failure> {
        let mut session = Session::new();
        match load(&mut session) {
            Ok(loaded) => Ok(Self { session, loaded }),
            Err(diagnostics) => Err(Failure::new(diagnostics, &session.sources)),
        }
    }
}

#[pymethods]
impl Source {
    /// A preset, or the file of a recipe or a model.
    #[staticmethod]
    fn load(py: Python<'_>, input: &str, overrides: Vec<String>) -> PyResult<Self> {
        work::run(py, |_| Self::new(|session| session.load(input, &overrides)))
    }

    /// A text in the model language.
    #[staticmethod]
    fn of_text(py: Python<'_>, name: &str, text: &str, overrides: Vec<String>) -> PyResult<Self> {
        work::run(py, |_| Self::new(|session| session.load_model(name, ModelInput::Text(text.to_owned()), &overrides)))
    }

    /// A model that is built.
    #[staticmethod]
    fn of_model(py: Python<'_>, model: &Built, overrides: Vec<String>) -> PyResult<Self> {
        let model = model.model();
        let name = model.module.name.to_string();
        work::run(py, |_| Self::new(|session| session.load_model(&name, ModelInput::Built(model), &overrides)))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.loaded.name
    }

    /// The bundle of these roles, and the warnings.
    fn compile(&self, py: Python<'_>, roles: Option<Vec<String>>) -> PyResult<(Bundle, Vec<Reported>)> {
        work::run(py, |token| {
            let mut options = CompileOptions::default();
            if let Some(roles) = roles {
                options.roles = roles.into_iter().map(ModuleRole::new).collect::<Result<_, _>>()?;
            }
            options.runner.watch.cancel = token.clone();
            let compiled = self.session.compile(&self.loaded, &options);
            let compiled = compiled.map_err(|errors| Failure::new(errors, &self.session.sources))?;
            Ok((Bundle::from(compiled.bundle), reported(&compiled.warnings, &self.session.sources)))
        })
    }
}
