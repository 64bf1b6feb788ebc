//! A role that only reads: its weights stay on the devices from batch to batch.

use crate::batch::DeviceBatch;
use crate::execute::LoadedModule;
use crate::placed::Ranks;
use crate::scheduled::Doing;
use crate::state::State;
use halite_bundle::tensors::Tensors;
use halite_bundle::{Buffer, Bundle, Manifest, ModuleEntry, ModuleRole, check_ranges, check_state, check_tensors};
use halite_runtime::Executor;
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use std::sync::Arc;

/// A role without an update, such as an evaluation or the forward of a model, with the weights that it reads. Stages of a pipeline that
/// do it together run on devices of this process.
pub struct Inference {
    state: State,
    doings: Vec<Vec<Doing>>,
    role: ModuleRole,
    /// The manifest of the bundle, with only the modules of the role and those buffers that they read.
    manifest: Manifest,
    /// The manifest of the bundle, which says what a state holds.
    whole: Manifest,
    /// Dropped after the buffers on its devices.
    executor: Arc<dyn Executor>,
}

impl Inference {
    /// Compiles the modules of this role for the ranks of the bundle, and copies those tensors of a state of the model to the devices
    /// that they read.
    ///
    /// # Errors
    /// When the bundle has no such role, its stages are processes, the tensors are no state of its model, or the executor fails.
    pub fn load(
        executor: Arc<dyn Executor>,
        bundle: &Bundle,
        role: &ModuleRole,
        state: Tensors,
    ) -> std::result::Result<Self, Diagnostics> {
        let manifest = reading(&bundle.manifest, &bundle.modules_with_role(role)?);
        check_state(&bundle.manifest, &state)?;
        let here = Ranks::stages(executor.as_ref(), &manifest);
        if here.len() < manifest.num_stages() {
            return Err(apart(role).into());
        }
        let load = |entry: &_| LoadedModule::load(executor.as_ref(), bundle, entry);
        let doings = Doing::of_role(bundle, role, &here, load)?;
        let state = State::upload(executor.as_ref(), &manifest, state)?;
        Ok(Self { state, doings, role: role.clone(), manifest, whole: bundle.manifest.clone(), executor })
    }

    /// Goes on with the tensors of another state of the model.
    ///
    /// # Errors
    /// When the tensors are no state of the model: the state is as it was. Then what the executor says.
    pub fn set_state(&mut self, state: Tensors) -> std::result::Result<(), Diagnostics> {
        check_state(&self.whole, &state)?;
        self.state = State::upload(self.executor.as_ref(), &self.manifest, state)?;
        Ok(())
    }

    /// The modules of the role in the manifest: one, or those of the stages of a pipeline.
    pub fn entries(&self) -> &[ModuleEntry] {
        &self.manifest.modules
    }

    /// The inputs that [`run`](Self::run) takes, in the order of the manifest: those that the model does not determine.
    pub fn fed(&self) -> impl Iterator<Item = &Buffer> {
        self.manifest.buffers.iter().filter(|buffer| buffer.is_batch() && buffer.content().is_none())
    }

    /// Runs the role on a batch of whole tensors by name. Returns its outputs by name, whole too.
    ///
    /// # Errors
    /// Every tensor that is missing, not an input, of the wrong type or with ids out of range; then what the executor says.
    pub fn run(&mut self, batch: &Tensors) -> std::result::Result<Tensors, Diagnostics> {
        check_tensors(batch, &self.fed().collect::<Vec<_>>(), &format!("the module `{}`", self.role.name()))?;
        self.entries().iter().try_for_each(|entry| check_ranges(&entry.inputs, batch))?;
        let batch = DeviceBatch::upload(self.executor.as_ref(), &self.manifest, std::slice::from_ref(batch))?;
        let plan = self.state.plan(&batch, &self.doings)?;
        self.state.start_anew(self.executor.as_ref(), &self.manifest)?;
        let outputs = self.state.run(self.executor.as_ref(), &plan, None).map_err(|(error, _)| error)?;
        self.state.come_to_end();
        Ok(outputs.iter().map(|(name, output)| Ok((name.clone(), output.download()?))).collect::<Result<_>>()?)
    }
}

/// A manifest with these modules and those buffers alone that they read.
fn reading(manifest: &Manifest, entries: &[&ModuleEntry]) -> Manifest {
    let mut manifest = manifest.clone();
    let is_read = |name: &str| entries.iter().flat_map(|entry| &entry.inputs).any(|port| port.name == name);
    manifest.buffers.retain(|buffer| is_read(&buffer.name));
    manifest.modules = entries.iter().copied().cloned().collect();
    manifest.roles.retain(|role, _| entries.iter().any(|entry| entry.role == *role));
    manifest.schedule = Vec::new();
    manifest
}

fn apart(role: &ModuleRole) -> Diagnostic {
    let message = format!("the stages of `{}` are processes, and this one has one of them", role.name());
    Diagnostic::error(codes::NOT_SUPPORTED, message)
        .help("run it on devices of one process, one for each rank of each stage")
}
