//! Training state and batches on a device.

use crate::execute::LoadedModule;
use crate::scheduled::Call;
use halite_bundle::check_tensors;
use halite_bundle::content::declared;
use halite_bundle::init::transient_state;
use halite_bundle::tensors::Tensors;
use halite_bundle::{BufferRole, Manifest, Port, PortRole};
use halite_runtime::{Buffer, Executor, Input};
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use halite_tensor::{ATTEMPTS, HostTensor, STEP};
use indexmap::IndexMap;

const UPLOAD: &str = "upload the batch with the step that it is for";

/// What modules read besides the batch.
#[derive(Debug)]
pub(super) struct State {
    /// Every buffer of the bundle's state, by name, in the order of the manifest.
    held: IndexMap<String, Option<Buffer>>,
    /// The inputs whose content the model declares.
    declared: IndexMap<String, Buffer>,
    /// Whether calls of an update were made and not all of them.
    is_under_way: bool,
}

/// The data of one step on a device, by name, in the pieces that calls take one after another.
#[derive(Debug)]
pub struct DeviceBatch(Vec<Piece>);

/// What one call reads of a batch.
pub(super) type Piece = IndexMap<String, Buffer>;

impl DeviceBatch {
    /// Copies pieces to the device.
    pub(super) fn upload(executor: &dyn Executor, pieces: &[Tensors]) -> Result<Self> {
        let piece = |piece: &Tensors| {
            let upload = |(name, tensor): (&String, _)| Ok((name.clone(), executor.upload(tensor, 0)?));
            piece.iter().map(upload).collect::<Result<Piece>>()
        };
        Ok(Self(pieces.iter().map(piece).collect::<Result<_>>()?))
    }

    /// The calls that are made, each with what it reads of the batch.
    ///
    /// # Errors
    /// When there are more pieces than calls take, or fewer.
    pub(super) fn plan<'m>(&self, calls: &'m [Call]) -> Result<Vec<(&'m LoadedModule, &Piece)>> {
        let (mut pieces, mut plan) = (self.0.iter(), Vec::new());
        for call in calls {
            for _ in 0..call.repeat {
                let piece = if call.micro_batches > 0 { pieces.next() } else { self.0.first() };
                plan.push((&call.module, piece.ok_or_else(another_step)?));
            }
        }
        let is_read = calls.iter().any(|call| call.micro_batches > 0);
        if is_read && pieces.next().is_some() { Err(another_step()) } else { Ok(plan) }
    }

    /// Checks that this executor runs on the buffers.
    pub(super) fn check_owner(&self, executor: &dyn Executor) -> Result<()> {
        match self.0.iter().flatten().find(|(_, buffer)| !executor.owns(buffer.as_ref())) {
            None => Ok(()),
            Some((name, _)) => {
                let message = format!("`{name}` of the batch is on a device of another executor");
                Err(Diagnostic::error(codes::TENSORS, message).help(UPLOAD))
            }
        }
    }

    /// Copies them back, as one batch.
    pub(super) fn download(&self) -> Result<Tensors> {
        let Some((first, rest)) = self.0.split_first() else { return Ok(Tensors::new()) };
        let whole = |(name, buffer): (&String, &Buffer)| {
            let start = buffer.download()?;
            let (dtype, mut shape) = (start.dtype(), start.shape().clone());
            let mut bytes = start.into_bytes();
            for piece in rest {
                bytes.extend(piece.get(name).ok_or_else(|| not_fed(name))?.download()?.into_bytes());
            }
            if let Some(first) = shape.first_mut() {
                *first *= 1 + rest.len();
            }
            let tensor = HostTensor::from_bytes(dtype, shape, bytes);
            Ok((name.clone(), tensor.map_err(|_| Diagnostic::bug("pieces of a batch that differ"))?))
        };
        first.iter().map(whole).collect()
    }
}

/// Compares tensors with the saved state of a bundle, as the bundle stores it.
///
/// # Errors
/// Every tensor that is missing, not wanted, or of the wrong type.
pub(super) fn check_state(manifest: &Manifest, tensors: &Tensors) -> std::result::Result<(), Diagnostics> {
    check_tensors(tensors, &manifest.saved().collect::<Vec<_>>(), "the training state")
}

/// How many updates led to a state: those made, and those made or skipped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Updates {
    pub(super) made: u64,
    pub(super) attempted: u64,
}

impl Updates {
    /// Those that a state counts.
    pub(super) fn of(manifest: &Manifest, state: &Tensors) -> Self {
        let count = |kind: &str| {
            let is_it = |buffer: &&halite_bundle::Buffer| matches!(&buffer.role, BufferRole::State(spec) if *spec.kind == *kind);
            let buffer = manifest.buffers.iter().find(is_it)?;
            u64::try_from(*state.get(&buffer.name)?.ints().first()?).ok()
        };
        let made = count(STEP).unwrap_or(0);
        Self { made, attempted: count(ATTEMPTS).unwrap_or(made) }
    }
}

impl State {
    /// Copies tensors to the device, which [`check_state`] has looked at, and beside them what is transient.
    pub(super) fn upload(
        executor: &dyn Executor,
        manifest: &Manifest,
        tensors: &Tensors,
    ) -> std::result::Result<Self, Diagnostics> {
        let transient = transient_state(manifest)?;
        let upload = |buffer: &halite_bundle::Buffer| {
            let tensor = transient.get(&buffer.name).unwrap_or_else(|| &tensors[&buffer.name]);
            Ok((buffer.name.clone(), Some(executor.upload(tensor, 0)?)))
        };
        let state = manifest.buffers.iter().filter(|buffer| !buffer.is_batch());
        let held = state.map(upload).collect::<Result<_>>()?;
        let declared = manifest.buffers.iter().filter_map(|buffer| Some((buffer, declared(buffer)?)));
        let upload =
            |(buffer, tensor): (&halite_bundle::Buffer, _)| Ok((buffer.name.clone(), executor.upload(&tensor, 0)?));
        Ok(Self { held, declared: declared.map(upload).collect::<Result<_>>()?, is_under_way: false })
    }

    /// Copies these buffers to the host.
    pub(super) fn download<'b>(&self, wanted: impl Iterator<Item = &'b halite_bundle::Buffer>) -> Result<Tensors> {
        let download = |buffer: &halite_bundle::Buffer| {
            let name = &buffer.name;
            let on_device = self.held.get(name).and_then(Option::as_ref);
            Ok((name.clone(), held(name, on_device)?.download()?))
        };
        wanted.map(download).collect()
    }

    /// Runs a module on this state and a batch, once [`check`](Self::check) has looked at them. Buffers that the module replaces are
    /// given away and put back; the other outputs are returned by name.
    pub(super) fn run(&mut self, module: &LoadedModule, batch: &Piece) -> Result<IndexMap<String, Buffer>> {
        let entry = module.entry();
        let is_given = |index| entry.outputs.iter().any(|port| port.alias == Some(index));
        // What is given away is taken out first, so that the rest can be lent.
        let given = entry.inputs.iter().enumerate().filter(|(index, _)| is_given(*index));
        let mut given: IndexMap<usize, Buffer> =
            given.map(|(index, port)| Ok((index, self.take(&port.name)?))).collect::<Result<_>>()?;
        let inputs = entry.inputs.iter().enumerate().map(|(index, port)| match given.swap_remove(&index) {
            Some(buffer) => Ok(Input::Donate(buffer)),
            None => match self.held.get(&port.name) {
                Some(buffer) => Ok(Input::Keep(held(&port.name, buffer.as_ref())?.as_ref())),
                None => match self.declared.get(&port.name).or_else(|| batch.get(&port.name)) {
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

    /// Checks that all is there that a module reads, before anything is given away.
    pub(super) fn check(&self, module: &LoadedModule, batch: &Piece) -> Result<()> {
        let entry = module.entry();
        let is_given = |index| entry.outputs.iter().any(|port| port.alias == Some(index));
        entry.inputs.iter().enumerate().try_for_each(|(index, port)| self.check_fed(port, is_given(index), batch))
    }

    /// Starts what passes between the calls of an update anew, where an update before it did not come to its end; from here on this
    /// one has not either.
    pub(super) fn start_anew(
        &mut self,
        executor: &dyn Executor,
        manifest: &Manifest,
    ) -> std::result::Result<(), Diagnostics> {
        if std::mem::replace(&mut self.is_under_way, true) {
            for (name, tensor) in transient_state(manifest)? {
                self.held.insert(name, Some(executor.upload(&tensor, 0).map_err(Diagnostic::from)?));
            }
        }
        Ok(())
    }

    /// The calls of an update came to their end.
    pub(super) fn come_to_end(&mut self) {
        self.is_under_way = false;
    }

    fn check_fed(&self, port: &Port, is_given: bool, batch: &Piece) -> Result<()> {
        match self.held.get(&port.name) {
            Some(buffer) => return held(&port.name, buffer.as_ref()).map(|_| ()),
            None if is_given => return Err(lost(&port.name)),
            None if self.declared.contains_key(&port.name) => return Ok(()),
            None => {}
        }
        let buffer = batch.get(&port.name).ok_or_else(|| not_fed(&port.name))?;
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

fn another_step() -> Diagnostic {
    Diagnostic::error(codes::TENSORS, "the batch has other micro-batches than this step takes").help(UPLOAD)
}

fn not_fed(name: &str) -> Diagnostic {
    Diagnostic::error(codes::TENSORS, format!("the tensor `{name}` is missing")).help("add it to the batch")
}
