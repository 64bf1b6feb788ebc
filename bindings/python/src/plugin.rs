//! The plugin that runs HLO on the CPU.

use crate::work;
use halite_runtime::install::{InstallOptions, Progress, install};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Downloads the CPU's plugin by `pip` of the Python `python`, or takes it from a wheel, and puts it in place; gives where it is.
#[pyfunction]
pub(crate) fn install_plugin(
    py: Python<'_>,
    python: PathBuf,
    wheel: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<PathBuf> {
    work::told(py, progress, |work| {
        let options = InstallOptions { wheel, python: python.into_os_string(), ..InstallOptions::default() };
        let mut tell = |progress: Progress| {
            // What is downloaded and checked stays whole: an installation ends by itself.
            _ = match progress {
                Progress::Download => work.step("downloading", 0, None),
                Progress::Unpack { done, total } => work.step("unpacking", done, Some(total)),
                _ => work.step("checking", 0, None),
            };
        };
        Ok(install(&options, &mut tell)?)
    })
}
