//! Training state and batches on a device.

use crate::execute::LoadedModule;
use halite_bundle::check_tensors;
use halite_bundle::content::declared;
use halite_bundle::tensors::Tensors;
use halite_bundle::{Manifest, Port, PortRole};
use halite_runtime::{Buffer, Executor, Input};
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use halite_tensor::{BufferSlot, Slot};
use indexmap::IndexMap;

const UPLOAD: &str = "upload the batch with the step that it is for";

/// What modules read besides the batch.
#[derive(Debug)]
pub(super) struct State {
    /// Every buffer of the bundle's state, by name, in the order of the manifest.
    held: IndexMap<String, Option<Buffer>>,
    /// The inputs whose content the model declares.
    declared: IndexMap<String, Buffer>,
}

/// The data of one step on a device, by name.
#[derive(Debug)]
pub struct DeviceBatch(IndexMap<String, Buffer>);

impl DeviceBatch {
    /// Copies tensors to the device.
    pub(super) fn upload(executor: &dyn Executor, tensors: &Tensors) -> Result<Self> {
        let upload = |(name, tensor): (&String, _)| Ok((name.clone(), executor.upload(tensor, 0)?));
        Ok(Self(tensors.iter().map(upload).collect::<Result<_>>()?))
    }

    /// Checks that this executor runs on the buffers.
    pub(super) fn check_owner(&self, executor: &dyn Executor) -> Result<()> {
        match self.0.iter().find(|(_, buffer)| !executor.owns(buffer.as_ref())) {
            None => Ok(()),
            Some((name, _)) => {
                let message = format!("`{name}` of the batch is on a device of another executor");
                Err(Diagnostic::error(codes::TENSORS, message).help(UPLOAD))
            }
        }
    }

    /// Copies them back.
    pub(super) fn download(&self) -> Result<Tensors> {
        self.0.iter().map(|(name, buffer)| Ok((name.clone(), buffer.download()?))).collect()
    }
}

/// Compares tensors with the state of a bundle, as the bundle stores it.
///
/// # Errors
/// Every tensor that is missing, not wanted, or of the wrong type.
pub(super) fn check_state(manifest: &Manifest, tensors: &Tensors) -> std::result::Result<(), Diagnostics> {
    check_tensors(tensors, &state_buffers(manifest).collect::<Vec<_>>(), "the training state")
}

fn state_buffers(manifest: &Manifest) -> impl Iterator<Item = &halite_bundle::Buffer> {
    manifest.buffers.iter().filter(|buffer| buffer.slot != BufferSlot::Batch)
}

/// How many updates led to a state.
pub(super) fn completed_steps(manifest: &Manifest, state: &Tensors) -> u64 {
    let step = manifest.buffers.iter().find(|buffer| buffer.slot == BufferSlot::State(Slot::Step));
    let value = step.and_then(|buffer| state.get(&buffer.name)?.ints().first().copied());
    value.and_then(|value| u64::try_from(value).ok()).unwrap_or(0)
}

impl State {
    /// Copies tensors to the device; [`check_state`] has looked at them.
    pub(super) fn upload(executor: &dyn Executor, manifest: &Manifest, tensors: &Tensors) -> Result<Self> {
        let upload = |buffer: &halite_bundle::Buffer| {
            Ok((buffer.name.clone(), Some(executor.upload(&tensors[&buffer.name], 0)?)))
        };
        let held = state_buffers(manifest).map(upload).collect::<Result<_>>()?;
        let declared = manifest.buffers.iter().filter_map(|buffer| Some((buffer, declared(buffer)?)));
        let upload =
            |(buffer, tensor): (&halite_bundle::Buffer, _)| Ok((buffer.name.clone(), executor.upload(&tensor, 0)?));
        Ok(Self { held, declared: declared.map(upload).collect::<Result<_>>()? })
    }

    /// Copies the buffers that are wanted to the host.
    pub(super) fn download(&self, is_wanted: impl Fn(&str) -> bool) -> Result<Tensors> {
        let wanted = self.held.iter().filter(|(name, _)| is_wanted(name));
        wanted.map(|(name, buffer)| Ok((name.clone(), held(name, buffer.as_ref())?.download()?))).collect()
    }

    /// Runs a module on this state and a batch. Buffers that the module replaces are given away and put back; the other
    /// outputs are returned by name.
    pub(super) fn run(&mut self, module: &LoadedModule, batch: &DeviceBatch) -> Result<IndexMap<String, Buffer>> {
        let entry = module.entry();
        let is_given = |index| entry.outputs.iter().any(|port| port.alias == Some(index));
        // Found before anything is given away.
        entry.inputs.iter().enumerate().try_for_each(|(index, port)| self.check_fed(port, is_given(index), batch))?;
        // What is given away is taken out first, so that the rest can be lent.
        let given = entry.inputs.iter().enumerate().filter(|(index, _)| is_given(*index));
        let mut given: IndexMap<usize, Buffer> =
            given.map(|(index, port)| Ok((index, self.take(&port.name)?))).collect::<Result<_>>()?;
        let inputs = entry.inputs.iter().enumerate().map(|(index, port)| match given.swap_remove(&index) {
            Some(buffer) => Ok(Input::Donate(buffer)),
            None => match self.held.get(&port.name) {
                Some(buffer) => Ok(Input::Keep(held(&port.name, buffer.as_ref())?.as_ref())),
                None => match self.declared.get(&port.name).or_else(|| batch.0.get(&port.name)) {
                    Some(buffer) => Ok(Input::Keep(buffer.as_ref())),
                    None => Err(not_fed(&port.name)),
                },
            },
        });
        let outputs = module.execute(inputs.collect::<Result<_>>()?)?;
        let mut rest = IndexMap::new();
        for (port, buffer) in entry.outputs.iter().zip(outputs) {
            match self.held.get_mut(&port.name) {
                Some(place) if port.role == PortRole::Buffer => *place = Some(buffer),
                _ => {
                    rest.insert(port.name.clone(), buffer);
                }
            }
        }
        Ok(rest)
    }

    fn check_fed(&self, port: &Port, is_given: bool, batch: &DeviceBatch) -> Result<()> {
        match self.held.get(&port.name) {
            Some(buffer) => return held(&port.name, buffer.as_ref()).map(|_| ()),
            None if is_given => return Err(lost(&port.name)),
            None if self.declared.contains_key(&port.name) => return Ok(()),
            None => {}
        }
        let buffer = batch.0.get(&port.name).ok_or_else(|| not_fed(&port.name))?;
        let spec = buffer.spec();
        if spec.dtype == port.dtype && *spec.shape == port.shape[..] {
            return Ok(());
        }
        let message = format!("`{}` of the batch is `{spec}`, which another step takes", port.name);
        Err(Diagnostic::error(codes::TENSORS, message).help(UPLOAD))
    }

    fn take(&mut self, name: &str) -> Result<Buffer> {
        self.held.get_mut(name).and_then(Option::take).ok_or_else(|| lost(name))
    }
}

fn held<'a>(name: &str, buffer: Option<&'a Buffer>) -> Result<&'a Buffer> {
    buffer.ok_or_else(|| lost(name))
}

fn lost(name: &str) -> Diagnostic {
    let message =
        format!("`{name}` is no longer part of the state: a step failed, or gave it away without replacing it");
    Diagnostic::error(codes::TENSORS, message).help("load the state again")
}

fn not_fed(name: &str) -> Diagnostic {
    Diagnostic::error(codes::TENSORS, format!("the tensor `{name}` is missing")).help("add it to the batch")
}
