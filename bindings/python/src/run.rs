//! Runs that are there.

use crate::train::{Evaluation, Update, measured};
use crate::work;
use halite::support::{Diagnostic, codes};
use halite_train::{Checkpoint, RunFiles};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// A run: its folder, its recipe, its newest state or that of a checkpoint and the updates before that, and what was measured up to it.
type Run = (PathBuf, PathBuf, PathBuf, u64, (Vec<Update>, Vec<Evaluation>));

/// The run in a folder, or up to one of its checkpoints; nothing where none is there.
#[pyfunction]
pub(crate) fn run_at(py: Python<'_>, path: PathBuf) -> PyResult<Option<Run>> {
    work::run(py, |_| {
        let Some(run) = RunFiles::at(&path) else { return Ok(None) };
        let is_checkpoint = path.is_dir() && path.parent().is_some_and(|all| all.ends_with("checkpoints"));
        let checkpoint = if is_checkpoint { Checkpoint::open(&path)? } else { newest(&run, &path)? };
        let history = run.measured(checkpoint.update)?;
        let folder = run.recipe().parent().map(Path::to_path_buf).unwrap_or_default();
        Ok(Some((folder, run.recipe(), checkpoint.state, checkpoint.update, measured(&history))))
    })
}

/// The newest whole checkpoint of a run.
fn newest(run: &RunFiles, path: &Path) -> Result<Checkpoint, Diagnostic> {
    run.checkpoints().newest().checkpoint.ok_or_else(|| {
        let message = format!("`{}` is neither a checkpoint nor the folder of a run with one", path.display());
        Diagnostic::error(codes::CHECKPOINT, message).help("go on with the run until its first checkpoint is saved")
    })
}
