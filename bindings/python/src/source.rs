//! Recipes with their models, as Python checks and compiles them.

use crate::builder::Built;
use crate::bundle::Bundle;
use crate::errors::{Failure, Reported, reported};
use crate::json::in_order;
use crate::program::Program;
use crate::watched::Watched;
use crate::work;
use halite::Session;
use halite::analysis::ResidualStream;
use halite::bundle::ModuleRole;
use halite::compile::{CompileOptions, Compiled};
use halite::passes::{Checked, Remark};
use halite::source::{ModelInput, Source as Loaded};
use halite::support::{Diagnostics, Name};
use halite_runtime::{ClientOptions, Pjrt, find_plugin};
use halite_verify::VerifyOptions;
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

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

    pub(crate) fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    fn failure(&self, diagnostics: impl Into<Diagnostics>) -> Failure {
        Failure::new(diagnostics, &self.session.sources)
    }

    fn reported(&self, diagnostics: &Diagnostics) -> Vec<Reported> {
        reported(diagnostics, &self.session.sources)
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
        let model = ModelInput::from(text);
        work::run(py, |_| Self::new(|session| session.load_model(name, model, &overrides)))
    }

    /// A recipe as a text.
    #[staticmethod]
    fn of_recipe(py: Python<'_>, name: &str, text: &str, overrides: Vec<String>) -> PyResult<Self> {
        work::run(py, |_| Self::new(|session| session.load_recipe(name, text, &overrides)))
    }

    /// A model that is built.
    #[staticmethod]
    fn of_model(py: Python<'_>, model: &Built, overrides: Vec<String>) -> PyResult<Self> {
        let (built, sources) = (model.model(), model.sources());
        let name = built.module.name.to_string();
        work::run(py, |_| {
            Self::new(|session| {
                sources.files().for_each(|file| _ = session.sources.insert(file.clone()));
                session.load_model(&name, ModelInput::Built(built), &overrides)
            })
        })
    }

    /// A program that another framework made.
    #[staticmethod]
    fn of_program(py: Python<'_>, program: &Program, overrides: Vec<String>) -> PyResult<Self> {
        let (model, sources, name) = (program.program(), program.sources(), program.name());
        work::run(py, |_| {
            Self::new(|session| {
                sources.files().for_each(|file| _ = session.sources.insert(file.clone()));
                session.load_model(name, ModelInput::Program(model), &overrides)
            })
        })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.loaded.name
    }

    /// The bundle of these roles, the warnings, and what passes said of their decisions as JSON. With `ir`, the bundle has the IR of
    /// its modules.
    fn compile(
        &self,
        py: Python<'_>,
        roles: Option<Vec<String>>,
        ir: bool,
        explain: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Bundle, Vec<Reported>, String)> {
        work::told(py, progress, |work| {
            let mut options = CompileOptions { emit_ir: ir, explain, ..CompileOptions::default() };
            if let Some(roles) = roles {
                options.roles = roles.into_iter().map(ModuleRole::new).collect::<Result<_, _>>()?;
            }
            options.runner.watch = work::watch(work);
            let compiled = self.session.compile(&self.loaded, &options).map_err(|errors| self.failure(errors))?;
            let Compiled { bundle, warnings, remarks: said, .. } = compiled;
            Ok((Bundle::from(bundle), self.reported(&warnings), remarks(&said).to_string()))
        })
    }

    /// Checks the source. Returns the warnings, and as JSON the counts of what was checked, the verdict on causality, and the residual
    /// streams.
    fn check(&self, py: Python<'_>, progress: Option<Py<PyAny>>) -> PyResult<(Vec<Reported>, String)> {
        work::told(py, progress, |work| {
            let mut options = CompileOptions::default();
            options.runner.watch = work::watch(work);
            let compiled = self.session.compile(&self.loaded, &options).map_err(|errors| self.failure(errors))?;
            let lints = self.session.lint(&self.loaded).map_err(|errors| self.failure(errors))?;
            let Compiled { mut warnings, audit, causality, .. } = compiled;
            warnings.extend(lints.findings);
            let streams: Vec<Value> = lints.streams.iter().map(stream).collect();
            let causality = causality.map(|verdict| verdict.to_string());
            Ok((self.reported(&warnings), in_order(&(checked(&audit.checked), causality, streams))))
        })
    }

    /// The report of comparing a module with itself without optimizations as JSON, and the warnings.
    fn verify(
        &self,
        py: Python<'_>,
        role: String,
        full: bool,
        seed: u64,
        plugin: Option<PathBuf>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(String, Vec<Reported>)> {
        work::told(py, progress, |work| {
            let options = VerifyOptions { role: ModuleRole::new(role)?, full, seed, ..VerifyOptions::default() };
            self.session.elaborate(&self.loaded).map_err(|errors| self.failure(errors))?;
            let ranks = self.session.ranks(&self.loaded).map_err(|errors| self.failure(errors))?.num_ranks();
            let devices = ranks * self.loaded.recipe.stages() as usize;
            let path = find_plugin(plugin.as_deref())?;
            let executor = Watched::new(Pjrt::open(&path, &ClientOptions::of(&path, devices))?, work.clone());
            let report = halite_verify::verify(&self.session, &self.loaded, &options, Arc::new(executor));
            let report = report.map_err(|errors| self.failure(errors))?;
            Ok((in_order(&(report.passed(), &report)), self.reported(&report.warnings)))
        })
    }

    /// The placement of the state on the mesh, and the collectives between ranks, as JSON.
    fn placement(&self, py: Python<'_>) -> PyResult<String> {
        work::run(py, |_| {
            let placement = self.session.placement(&self.loaded).map_err(|errors| self.failure(errors))?;
            Ok(in_order(&placement))
        })
    }
}

fn remarks(said: &[(Name, Vec<Remark>)]) -> Value {
    let object = |module: &str, remark: &Remark| {
        let Remark { pass, rule, taken, message, scopes, .. } = remark;
        json!({"module": module, "pass_": &**pass, "rule": rule, "taken": taken, "message": message, "scopes": scopes})
    };
    said.iter().flat_map(|(module, remarks)| remarks.iter().map(|remark| object(module, remark))).collect()
}

fn checked(checked: &Checked) -> [(&'static str, usize); 5] {
    let Checked { sensitive, sums, gradients, weights, moments, .. } = *checked;
    let [sensitive, gradients] = [("sensitive ops", sensitive), ("sums of gradients", gradients)];
    [sensitive, ("sums", sums), gradients, ("weights", weights), ("moments", moments)]
}

fn stream(stream: &ResidualStream) -> Value {
    let branches = stream.branches.iter().map(|branch| {
        let weights: Vec<&str> = branch.weights.iter().map(|name| &**name).collect();
        json!({"scope": branch.scope, "weights": weights, "added_std": branch.added, "std": branch.stream})
    });
    json!({"start_std": stream.start, "branches": branches.collect::<Vec<_>>()})
}
