//! The actions of an update or an evaluation, as the manifest lists them.

use super::execute::{LoadedModule, no_output};
use super::stage::Run;
use halite_bundle::{Action, Bundle, Manifest, ModuleEntry, ModuleRole, Transfer, contradiction};
use halite_support::Result;
use indexmap::IndexMap;
use std::ops::Range;
use std::sync::Arc;

/// One thing that a stage does.
pub(super) enum Doing {
    /// Calls a module.
    Run(Call),
    /// Sends values to another stage.
    Send { transfer: Arc<Transfer>, piece: Option<usize> },
    /// Waits for values of another stage.
    Receive { transfer: Arc<Transfer>, piece: Option<usize> },
}

/// One thing that a stage does on a batch.
pub(super) enum Planned<'m> {
    Run(Run<'m>),
    Send { transfer: &'m Transfer, piece: Option<usize> },
    Receive { transfer: &'m Transfer, piece: Option<usize> },
}

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

    /// The number of the piece of each call, `None` for one that is for none.
    pub(super) fn numbers(&self) -> Vec<Option<usize>> {
        self.pieces.clone().map_or_else(|| vec![None], |pieces| pieces.map(Some).collect())
    }
}

impl Doing {
    /// The call of a module, if it is one.
    pub(super) fn call(&self) -> Option<&Call> {
        if let Self::Run(call) = self { Some(call) } else { None }
    }

    /// The actions of stages for a role that is no part of an update: those of its lists, or one call of its only module.
    ///
    /// # Errors
    /// When the bundle does not have the role; as [`doings`].
    pub(super) fn of_role(
        bundle: &Bundle,
        role: &ModuleRole,
        here: &Range<usize>,
        load: impl Fn(&ModuleEntry) -> Result<LoadedModule>,
    ) -> Result<Vec<Vec<Self>>> {
        let manifest = &bundle.manifest;
        if let Some(lists) = manifest.roles.get(role) {
            return doings(manifest, lists, here, load);
        }
        let module = load(bundle.module_with_role(role)?)?;
        Ok(vec![vec![Self::Run(Call::new(manifest, Arc::new(module), Some(0..1))?)]])
    }
}

/// The modules that an update calls, in the order of their first calls.
///
/// # Errors
/// When the bundle makes no updates.
pub(super) fn scheduled(bundle: &Bundle) -> Result<Vec<&ModuleEntry>> {
    let manifest = &bundle.manifest;
    if manifest.schedule.is_empty() {
        bundle.module_with_role(&ModuleRole::TRAIN_STEP)?;
    }
    manifest.calls().into_keys().map(|name| find(manifest, name)).collect()
}

fn find<'m>(manifest: &'m Manifest, name: &str) -> Result<&'m ModuleEntry> {
    let unknown = || contradiction(&format!("the schedule calls `{name}`, which is no module"));
    manifest.modules.iter().find(|entry| entry.name == name).ok_or_else(unknown)
}

/// Checks that the calls of an update return its loss.
///
/// # Errors
/// When the last call of no stage does.
pub(super) fn check_loss(manifest: &Manifest) -> Result<()> {
    let mut without = None;
    for list in &manifest.schedule {
        let called = list.iter().rev().find_map(|action| match action {
            Action::Run { module, .. } => Some(module),
            _ => None,
        });
        let Some(name) = called else { continue };
        if find(manifest, name)?.outputs.iter().any(|port| port.name == "loss") {
            return Ok(());
        }
        without = Some(name);
    }
    without.map_or(Ok(()), |name| Err(no_output(name, "loss")))
}

/// The actions of stages by these lists, each module being loaded once: nothing, where a stage does not run here.
///
/// # Errors
/// When a list names what is not there, or a module cannot be loaded.
pub(super) fn doings(
    manifest: &Manifest,
    lists: &[Vec<Action>],
    here: &Range<usize>,
    load: impl Fn(&ModuleEntry) -> Result<LoadedModule>,
) -> Result<Vec<Vec<Doing>>> {
    let mut loaded: IndexMap<&str, Arc<LoadedModule>> = IndexMap::new();
    let transfers: IndexMap<&str, Arc<Transfer>> =
        manifest.transfers.iter().map(|own| (own.name.as_str(), Arc::new(own.clone()))).collect();
    let transfer = |name: &str| {
        let unknown = || contradiction(&format!("the schedule names `{name}`, which is no transfer"));
        transfers.get(name).cloned().ok_or_else(unknown)
    };
    let mut stages = Vec::with_capacity(lists.len());
    for (stage, list) in lists.iter().enumerate() {
        let mut doings = Vec::new();
        for action in list.iter().filter(|_| here.contains(&stage)) {
            doings.push(match action {
                Action::Run { module, pieces } => {
                    let module = match loaded.get(module.as_str()) {
                        Some(module) => module.clone(),
                        None => {
                            loaded.entry(module).insert_entry(Arc::new(load(find(manifest, module)?)?)).get().clone()
                        }
                    };
                    Doing::Run(Call::new(manifest, module, pieces.clone())?)
                }
                Action::Send { transfer: name, piece } => Doing::Send { transfer: transfer(name)?, piece: *piece },
                Action::Receive { transfer: name, piece } => {
                    Doing::Receive { transfer: transfer(name)?, piece: *piece }
                }
            });
        }
        stages.push(doings);
    }
    Ok(stages)
}
