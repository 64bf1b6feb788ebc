//! Stages of a pipeline.

use halite_bundle::{Manifest, PortRole};
use halite_support::{Diagnostic, Result, codes};

/// Refuses a bundle of a pipeline, whose modules pass values on that only its stages have together.
///
/// # Errors
/// When it has several stages, or a module that takes or gives such a value.
pub(super) fn check_stages(manifest: &Manifest) -> Result<()> {
    let ports = manifest.modules.iter().flat_map(|module| module.inputs.iter().chain(&module.outputs));
    if manifest.schedule.len() <= 1 && !ports.into_iter().any(|port| port.role == PortRole::Value) {
        return Ok(());
    }
    let message = "the bundle is one of a pipeline, whose modules run on several stages";
    Err(Diagnostic::error(codes::MODULE, message)
        .note("stages are not run yet")
        .help("compile the recipe without `parallel.pipeline`"))
}
