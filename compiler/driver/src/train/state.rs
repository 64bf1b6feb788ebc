//! Training state on a device.

use crate::bundle::Bundle;
use crate::content::declared;
use crate::execute::{LoadedModule, check_tensors};
use crate::tensors::Tensors;
use halite_runtime::{Buffer, DeviceBuffer, Executor, Input};
use halite_spec::{BufferSlot, PortRole};
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use indexmap::IndexMap;

/// What the modules of a bundle read besides the batch.
#[derive(Debug)]
pub(crate) struct State {
    /// Every buffer of the bundle's state, by name, in the order of the manifest.
    held: IndexMap<String, Option<Buffer>>,
    /// The inputs whose content the model declares.
    declared: IndexMap<String, Buffer>,
}

impl State {
    /// Copies tensors to the device.
    ///
    /// # Errors
    /// Every tensor that is missing, not wanted, or of the wrong type.
    pub(crate) fn upload(
        executor: &dyn Executor,
        bundle: &Bundle,
        tensors: &Tensors,
    ) -> std::result::Result<Self, Diagnostics> {
        let buffers = bundle.manifest.buffers.iter().filter(|buffer| buffer.slot != BufferSlot::Batch);
        let buffers: Vec<_> = buffers.collect();
        check_tensors(tensors, &buffers, "the training state")?;
        let state = || -> Result<Self> {
            let upload = |name: &String| Ok((name.clone(), Some(executor.upload(&tensors[name], 0)?)));
            let held = buffers.iter().map(|buffer| upload(&buffer.name)).collect::<Result<_>>()?;
            let declared = bundle.manifest.buffers.iter().filter_map(|buffer| Some((buffer, declared(buffer)?)));
            let upload =
                |(buffer, tensor): (&halite_spec::Buffer, _)| Ok((buffer.name.clone(), executor.upload(&tensor, 0)?));
            Ok(Self { held, declared: declared.map(upload).collect::<Result<_>>()? })
        };
        state().map_err(|error| vec![error])
    }

    /// Copies all of it to the host.
    pub(crate) fn download(&self) -> Result<Tensors> {
        let all = self.held.iter().map(|(name, buffer)| Ok((name.clone(), held(name, buffer.as_ref())?.download()?)));
        all.collect()
    }

    /// Runs a module on this state and a batch. Buffers that the module replaces are given away and put back; the other
    /// outputs are returned by name.
    pub(super) fn run(&mut self, module: &LoadedModule, batch: &dyn DeviceBuffer) -> Result<IndexMap<String, Buffer>> {
        let entry = module.entry();
        let is_given = |index| entry.outputs.iter().any(|port| port.alias == Some(index));
        // What is given away is taken out first, so that the rest can be lent.
        let given = entry.inputs.iter().enumerate().filter(|(index, _)| is_given(*index));
        let mut given: IndexMap<usize, Buffer> =
            given.map(|(index, port)| Ok((index, self.take(&port.name)?))).collect::<Result<_>>()?;
        let inputs = entry.inputs.iter().enumerate().map(|(index, port)| match given.swap_remove(&index) {
            Some(buffer) => Ok(Input::Donate(buffer)),
            None => match (self.held.get(&port.name), self.declared.get(&port.name)) {
                (Some(buffer), _) => Ok(Input::Keep(held(&port.name, buffer.as_ref())?.as_ref())),
                (None, Some(declared)) => Ok(Input::Keep(declared.as_ref())),
                (None, None) => Ok(Input::Keep(batch)),
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

    fn take(&mut self, name: &str) -> Result<Buffer> {
        self.held.get_mut(name).and_then(Option::take).ok_or_else(|| lost(name))
    }
}

fn held<'a>(name: &str, buffer: Option<&'a Buffer>) -> Result<&'a Buffer> {
    buffer.ok_or_else(|| lost(name))
}

fn lost(name: &str) -> Diagnostic {
    Diagnostic::error(codes::BUNDLE, format!("a module gives `{name}` away without replacing it"))
        .help("compile the bundle again")
}
