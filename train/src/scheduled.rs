//! The calls that make an update, as the manifest lists them.

use super::execute::LoadedModule;
use super::stages::check_stages;
use halite_bundle::{Action, Bundle, Manifest, ModuleEntry, ModuleRole, contradiction};
use halite_support::Result;
use indexmap::IndexMap;
use std::ops::Range;
use std::sync::Arc;

/// A module, and the pieces of the batch that it is called for, one call after another.
pub(super) struct Call {
    pub(super) module: Arc<LoadedModule>,
    /// `None` for one call of a module that reads nothing of the batch.
    pub(super) pieces: Option<Range<usize>>,
    /// The micro-batches that one call takes; 0 where it reads nothing of the batch.
    pub(super) micro_batches: usize,
}

impl Call {
    /// The calls of a module of the bundle that `manifest` describes.
    ///
    /// # Errors
    /// When its inputs hold different numbers of micro-batches.
    pub(super) fn new(manifest: &Manifest, module: Arc<LoadedModule>, pieces: Option<Range<usize>>) -> Result<Self> {
        let name = &module.entry().name;
        let disagree = || contradiction(&format!("the inputs of `{name}` hold different numbers of micro-batches"));
        let micro_batches = manifest.micro_batches_of(module.entry()).ok_or_else(disagree)?;
        Ok(Self { module, pieces, micro_batches })
    }

    /// One call of a module that makes no update.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(super) fn once(manifest: &Manifest, module: LoadedModule) -> Result<Self> {
        Self::new(manifest, Arc::new(module), Some(0..1))
    }
}

/// The modules that make an update, in the order of their first calls.
///
/// # Errors
/// When the bundle makes no updates or is one of a pipeline.
pub(super) fn scheduled(bundle: &Bundle) -> Result<Vec<&ModuleEntry>> {
    let manifest = &bundle.manifest;
    check_stages(manifest)?;
    if manifest.schedule.is_empty() {
        bundle.module_with_role(&ModuleRole::TRAIN_STEP)?;
    }
    let find = |name: &str| {
        let unknown = || contradiction(&format!("the schedule calls `{name}`, which is no module"));
        manifest.modules.iter().find(|entry| entry.name == name).ok_or_else(unknown)
    };
    manifest.calls().into_keys().map(find).collect()
}

/// The calls that make an update, in order, each module being loaded once.
///
/// # Errors
/// As [`scheduled`], or when a module cannot be loaded.
pub(super) fn calls(bundle: &Bundle, load: impl Fn(&ModuleEntry) -> Result<LoadedModule>) -> Result<Vec<Call>> {
    let mut loaded = IndexMap::new();
    for entry in scheduled(bundle)? {
        loaded.insert(entry.name.as_str(), Arc::new(load(entry)?));
    }
    let call = |action: &Action| {
        let found = if let Action::Run { module, pieces } = action {
            Some((loaded.get(module.as_str()), pieces))
        } else {
            None
        };
        match found {
            Some((Some(module), pieces)) => Call::new(&bundle.manifest, module.clone(), pieces.clone()),
            _ => Err(contradiction(&format!("`{action}` of the schedule is nothing that one stage does"))),
        }
    };
    bundle.manifest.schedule.iter().flatten().map(call).collect()
}
