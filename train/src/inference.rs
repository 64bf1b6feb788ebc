//! A module that only reads: its weights stay on the devices from batch to batch.

use crate::batch::DeviceBatch;
use crate::execute::LoadedModule;
use crate::scheduled::Doing;
use crate::state::State;
use halite_bundle::tensors::Tensors;
use halite_bundle::{Buffer, Bundle, Manifest, ModuleEntry, ModuleRole, check_ranges, check_state, check_tensors};
use halite_runtime::Executor;
use halite_support::Diagnostics;
use std::sync::Arc;

/// A module without an update, such as an evaluation or the forward of a model, with the weights that it reads.
pub struct Inference {
    state: State,
    doings: Vec<Vec<Doing>>,
    entry: ModuleEntry,
    /// The manifest of the bundle, with only those buffers that the module reads.
    manifest: Manifest,
    /// Dropped after the buffers on its devices.
    executor: Arc<dyn Executor>,
}

impl Inference {
    /// Compiles the module of this role for the ranks of the bundle's mesh, and copies those tensors of a state of the model to the
    /// devices that it reads.
    ///
    /// # Errors
    /// When the bundle has no such module, the tensors are no state of its model, or the executor fails.
    pub fn load(
        executor: Arc<dyn Executor>,
        bundle: &Bundle,
        role: &ModuleRole,
        state: Tensors,
    ) -> Result<Self, Diagnostics> {
        let entry = bundle.module_with_role(role)?;
        check_state(&bundle.manifest, &state)?;
        let manifest = reading(&bundle.manifest, entry);
        let module = LoadedModule::load(executor.as_ref(), bundle, entry)?;
        let doings = Doing::once(&manifest, module)?;
        let state = State::upload(executor.as_ref(), &manifest, state)?;
        Ok(Self { state, doings, entry: entry.clone(), manifest, executor })
    }

    /// The entry of the module in the manifest.
    pub fn entry(&self) -> &ModuleEntry {
        &self.entry
    }

    /// Runs the module on a batch of whole tensors by name. Returns its outputs by name, whole too.
    ///
    /// # Errors
    /// Every tensor that is missing, not an input, of the wrong type or with ids out of range; then what the executor says.
    pub fn run(&mut self, batch: &Tensors) -> Result<Tensors, Diagnostics> {
        let is_fed = |buffer: &&Buffer| buffer.is_batch() && buffer.content().is_none();
        let expected: Vec<&Buffer> = self.manifest.buffers.iter().filter(is_fed).collect();
        check_tensors(batch, &expected, &format!("the module `{}`", self.entry().name))?;
        check_ranges(&self.entry().inputs, batch)?;
        let batch = DeviceBatch::upload(self.executor.as_ref(), &self.manifest, std::slice::from_ref(batch))?;
        let mut outputs = Tensors::new();
        let plan = self.state.plan(&batch, &self.doings)?;
        for (name, output) in self.state.run(self.executor.as_ref(), &plan, None).map_err(|(error, _)| error)? {
            outputs.insert(name, output.download()?);
        }
        Ok(outputs)
    }
}

/// A manifest with those buffers alone that a module reads.
fn reading(manifest: &Manifest, entry: &ModuleEntry) -> Manifest {
    let mut manifest = manifest.clone();
    manifest.buffers.retain(|buffer| entry.inputs.iter().any(|port| port.name == buffer.name));
    manifest.modules.retain(|module| module.name == entry.name);
    manifest
}
