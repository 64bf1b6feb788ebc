//! The calls that make an update, as the manifest lists them.

use super::execute::LoadedModule;
use halite_bundle::{Bundle, Manifest, ModuleEntry, ModuleRole, ScheduledCall, contradiction};
use halite_support::Diagnostic;

/// The modules that make an update, in order, each as often as it is called.
///
/// # Errors
/// When the bundle has none.
pub(super) fn scheduled(bundle: &Bundle) -> Result<Vec<(&ModuleEntry, usize)>, Diagnostic> {
    if bundle.manifest.schedule.is_empty() {
        bundle.module_with_role(&ModuleRole::TRAIN_STEP)?;
    }
    let find = |call: &ScheduledCall| {
        let entry = bundle.manifest.modules.iter().find(|entry| entry.name == call.module);
        let unknown = || contradiction(&format!("the schedule calls `{}`, which is no module", call.module));
        Ok((entry.ok_or_else(unknown)?, call.repeat))
    };
    bundle.manifest.schedule.iter().map(find).collect()
}

/// Calls of a module, so many one after another.
pub(super) struct Call {
    pub(super) module: LoadedModule,
    pub(super) repeat: usize,
    /// The micro-batches that one call takes; 0 where it reads nothing of the batch.
    pub(super) micro_batches: usize,
}

impl Call {
    /// The calls of a module of the bundle that `manifest` describes.
    ///
    /// # Errors
    /// When its inputs hold different numbers of micro-batches.
    pub(super) fn new(manifest: &Manifest, module: LoadedModule, repeat: usize) -> Result<Self, Diagnostic> {
        let name = &module.entry().name;
        let disagree = || contradiction(&format!("the inputs of `{name}` hold different numbers of micro-batches"));
        let micro_batches = manifest.micro_batches_of(module.entry()).ok_or_else(disagree)?;
        Ok(Self { module, repeat, micro_batches })
    }
}
