//! Plugins that run HLO.

use crate::errors::Failure;
use crate::wait::Work;
use crate::watched::Watched;
use crate::work;
use halite_runtime::install::{InstallOptions, Progress, install};
use halite_runtime::{ClientOptions, Executor, Pjrt, ProgramFormat, find_plugin};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The devices of the plugin in a file, by default the CPU's, for all ranks of a bundle.
pub(crate) fn open(
    plugin: Option<&Path>,
    bundle: &halite::Bundle,
    stablehlo: bool,
) -> Result<Arc<dyn Executor>, Failure> {
    let path = find_plugin(plugin)?;
    let executor = Pjrt::open(&path, &ClientOptions::of(&path, bundle.manifest.num_ranks()))?;
    Ok(Arc::new(if stablehlo { executor.with_format(ProgramFormat::Mlir) } else { executor }))
}

/// The same, which tells what it does for some work and stops with it.
pub(crate) fn open_watched(
    plugin: Option<&Path>,
    bundle: &halite::Bundle,
    work: &Work,
) -> Result<Arc<dyn Executor>, Failure> {
    let path = find_plugin(plugin)?;
    let executor = Pjrt::open(&path, &ClientOptions::of(&path, bundle.manifest.num_ranks()))?;
    Ok(Arc::new(Watched::new(executor, work.clone())))
}

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
