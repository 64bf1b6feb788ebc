//! Pages and plots of runs, as HTML and SVG.

use crate::errors::Failure;
use crate::train::{Evaluation, Update, history};
use crate::work;
use halite::Session;
use halite::recipe::Recipe;
use halite::support::{Diagnostic, codes};
use halite_page::{Compared, Comparison, plot};
use halite_train::RunFiles;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// The loss of what a run measured, as SVG.
#[pyfunction]
pub(crate) fn loss_plot(
    py: Python<'_>,
    title: &str,
    updates: Vec<Update>,
    evaluations: Vec<Evaluation>,
) -> PyResult<String> {
    work::run(py, |_| Ok(plot::loss(title, &history(updates, evaluations))?))
}

/// The page of the run in a folder up to an update, as HTML.
#[pyfunction]
pub(crate) fn report(py: Python<'_>, title: &str, folder: PathBuf, update: u64) -> PyResult<String> {
    work::run(py, |_| {
        let (files, recipe) = run_in(&folder)?;
        let recorded = files.recorded(&recipe.metrics, update)?;
        Ok(halite_page::report(title, &recipe, &recorded.seen())?)
    })
}

/// A key in which recipes differ, with its value in each run that sets it.
type Difference = (String, Vec<Option<String>>);

/// A comparison of runs: a table with its head and a row for each run, the differences of recipes, the page as HTML, the loss as SVG.
type Beside = (Vec<Vec<String>>, Vec<Difference>, String, String);

/// Compares runs: what each is called, its folder, and the update up to which it is looked at.
#[pyfunction]
pub(crate) fn compare(py: Python<'_>, runs: Vec<(String, PathBuf, u64)>) -> PyResult<Beside> {
    work::run(py, |_| {
        let read = |(name, folder, update): (String, PathBuf, u64)| {
            let (files, recipe) = run_in(&folder)?;
            let (model, history) = (files.model_sum(&recipe)?, files.measured(update)?);
            Ok(Compared { name, recipe, model, history })
        };
        let compared = Comparison::new(runs.into_iter().map(read).collect::<Result<_, Failure>>()?)?;
        Ok((compared.losses(), compared.differences().to_vec(), compared.page()?, compared.loss()?))
    })
}

/// The files of the run in a folder, and its recipe; its model is not looked at, which may be a program's of Python.
fn run_in(folder: &Path) -> Result<(RunFiles, Recipe), Failure> {
    let files = RunFiles::at(folder).ok_or_else(|| {
        let message = format!("`{}` is not the folder of a run", folder.display());
        Diagnostic::error(codes::INPUT, message).help("give the folder that `halite.train` wrote")
    })?;
    let mut session = Session::new();
    let recipe = session.recipe_at(&files.recipe()).map_err(|errors| Failure::new(errors, &session.sources))?;
    Ok((files, recipe))
}
