//! Training state and batches on devices.

use crate::execute::LoadedModule;
use crate::placed::{Argument, Placed, Placement, Ranks};
use crate::scheduled::Call;
use halite_bundle::content::declared;
use halite_bundle::init::transient_state;
use halite_bundle::parts;
use halite_bundle::tensors::Tensors;
use halite_bundle::{Buffer, BufferRole, Manifest, Port, PortRole};
use halite_runtime::Executor;
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use halite_tensor::{ATTEMPTS, Content, HostTensor, Mesh, STEP};
use indexmap::IndexMap;

const UPLOAD: &str = "upload the batch with the step that it is for";

/// The buffers that modules read besides the batch.
#[derive(Debug)]
pub(super) struct State {
    /// Every buffer of the bundle's state, by name, in the order of the manifest.
    held: IndexMap<String, Option<Placed>>,
    /// The inputs whose content the model declares, each with its value for the calls on each piece of the batch, or with one for all.
    declared: IndexMap<String, Vec<Placed>>,
    /// Whether some calls of an update were made, and not all of them.
    is_under_way: bool,
}

/// The data of one step on the devices of its ranks, by name, in the pieces that calls take one after another.
#[derive(Debug)]
pub struct DeviceBatch(Vec<Piece>);

/// The part of a batch that one call reads.
pub(super) type Piece = IndexMap<String, Placed>;

/// One call of a module.
#[derive(Clone, Copy)]
pub(super) struct Planned<'m> {
    pub(super) module: &'m LoadedModule,
    /// The number of the piece of the batch that it is for.
    pub(super) number: usize,
    pub(super) piece: &'m Piece,
}

impl DeviceBatch {
    /// Copies the pieces of a bundle's batch to the devices.
    pub(super) fn upload(executor: &dyn Executor, manifest: &Manifest, pieces: &[Tensors]) -> Result<Self> {
        let ranks = Ranks::of(executor, &manifest.mesh);
        let batch = manifest.buffers.iter().filter(|buffer| buffer.is_batch());
        let piece = |piece: &Tensors| -> Result<Piece> {
            let given = batch.clone().filter_map(|buffer| Some((buffer, piece.get(&buffer.name)?)));
            given.map(|(buffer, tensor)| upload(executor, &ranks, buffer, tensor)).collect()
        };
        Ok(Self(pieces.iter().map(piece).collect::<Result<_>>()?))
    }

    /// The calls that are made, each with the part of the batch that it reads.
    ///
    /// # Errors
    /// When there are more pieces than calls take, or fewer.
    pub(super) fn plan<'m>(&'m self, calls: &'m [Call]) -> Result<Vec<Planned<'m>>> {
        let (mut taken, mut plan) = (None, Vec::new());
        for Call { module, pieces, micro_batches } in calls {
            for number in pieces.clone().unwrap_or(0..1) {
                let is_read = *micro_batches > 0;
                let piece = if is_read { self.0.get(number) } else { self.0.first() };
                plan.push(Planned { module, number, piece: piece.ok_or_else(another_step)? });
                taken = taken.max(is_read.then_some(number + 1));
            }
        }
        if taken.is_some_and(|taken| taken < self.0.len()) { Err(another_step()) } else { Ok(plan) }
    }

    /// Checks that this executor runs on the buffers.
    pub(super) fn check_owner(&self, executor: &dyn Executor) -> Result<()> {
        let is_foreign = |placed: &Placed| placed.parts().iter().any(|part| !executor.owns(part.as_ref()));
        match self.0.iter().flatten().find(|(_, placed)| is_foreign(placed)) {
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
        let whole = |(name, placed): (&String, &Placed)| {
            let start = placed.download()?;
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

/// The number of updates that led to a state: those made, and those made or skipped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Updates {
    pub(super) made: u64,
    pub(super) attempted: u64,
}

impl Updates {
    /// The numbers of updates in the counters of a state.
    pub(super) fn of(manifest: &Manifest, state: &Tensors) -> Self {
        let count = |kind: &str| {
            let is_it = |buffer: &&Buffer| matches!(&buffer.role, BufferRole::State(spec) if *spec.kind == *kind);
            let buffer = manifest.buffers.iter().find(is_it)?;
            u64::try_from(*state.get(&buffer.name)?.ints().first()?).ok()
        };
        let made = count(STEP).unwrap_or(0);
        Self { made, attempted: count(ATTEMPTS).unwrap_or(made) }
    }
}

impl Updates {
    /// The error of a call of a module, with the number of the update that it was part of.
    pub(super) fn blame(self, error: Diagnostic, module: &str) -> Diagnostic {
        let begun = self.attempted + 1;
        error
            .note(format!("`{module}` was called after {} whole updates; update {begun} was not made", self.attempted))
            .note("what it was given is gone from the device: load a state to go on")
    }
}

impl State {
    /// Copies the tensors of a saved state, which [`check_state`](halite_bundle::check_state) has checked, to the devices, and the
    /// transient buffers beside them. Tensors that are stored as one are joined for one buffer at a time.
    pub(super) fn upload(
        executor: &dyn Executor,
        manifest: &Manifest,
        mut tensors: Tensors,
    ) -> std::result::Result<Self, Diagnostics> {
        let (ranks, mut transient) = (Ranks::of(executor, &manifest.mesh), transient_state(manifest)?);
        let mut held = IndexMap::new();
        for buffer in manifest.buffers.iter().filter(|buffer| !buffer.is_batch()) {
            let tensor = match transient.swap_remove(&buffer.name) {
                Some(tensor) => tensor,
                None => buffer.pack(&mut tensors)?.ok_or_else(|| not_given(&buffer.name))?,
            };
            let (name, placed) = upload(executor, &ranks, buffer, &tensor)?;
            held.insert(name, Some(placed));
        }
        let pieces = manifest.calls().into_values().max().unwrap_or(1);
        let mut known: IndexMap<String, Vec<Placed>> = IndexMap::new();
        for buffer in &manifest.buffers {
            let pieces = if buffer.content() == Some(Content::MicroBatch) { pieces } else { 1 };
            for tensor in (0..pieces).filter_map(|piece| declared(buffer, piece)) {
                let (name, placed) = upload(executor, &ranks, buffer, &tensor)?;
                known.entry(name).or_default().push(placed);
            }
        }
        Ok(Self { held, declared: known, is_under_way: false })
    }

    /// Copies the tensors of the model in these buffers to the host.
    ///
    /// # Errors
    /// When a copy fails, or a tensor is stored several times and its copies differ.
    pub(super) fn download<'b>(&self, wanted: impl Iterator<Item = &'b Buffer>) -> Result<Tensors> {
        let mut tensors = Tensors::new();
        for buffer in wanted {
            tensors.extend(buffer.unpack(self.placed(&buffer.name)?.download()?)?);
        }
        Ok(tensors)
    }

    /// Copies the shards of these buffers that the rank of this process holds to the host. Where several ranks hold the same shard,
    /// only the first of them copies it.
    ///
    /// # Errors
    /// When a copy fails.
    pub(super) fn download_part<'b>(
        &self,
        wanted: impl Iterator<Item = &'b Buffer>,
        mesh: &Mesh,
        rank: usize,
    ) -> Result<Tensors> {
        let mine = wanted.filter(|buffer| parts::holder(mesh, buffer.sharding.as_ref(), rank) == rank);
        mine.map(|buffer| Ok((buffer.name.clone(), self.placed(&buffer.name)?.first().download()?))).collect()
    }

    /// Checks that ranks hold the same bytes of these buffers, where they should.
    ///
    /// # Errors
    /// Every buffer of which they do not, with the ranks.
    pub(super) fn check_replicas<'b>(
        &self,
        wanted: impl Iterator<Item = &'b Buffer>,
    ) -> std::result::Result<(), Diagnostics> {
        let mut mistakes = Diagnostics::new();
        for Buffer { name, .. } in wanted {
            let differing = self.placed(name)?.differing()?;
            if !differing.is_empty() {
                mistakes.push(parted(name, &differing));
            }
        }
        if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
    }

    fn placed(&self, name: &str) -> Result<&Placed> {
        held(name, self.held.get(name).and_then(Option::as_ref))
    }

    /// Runs a module on this state and a batch, once [`check`](Self::check) has checked them. Buffers that the module replaces are
    /// donated and put back; the other outputs are returned by name.
    pub(super) fn run(&mut self, Planned { module, number, piece }: Planned<'_>) -> Result<IndexMap<String, Placed>> {
        let entry = module.entry();
        let is_given = |index| entry.outputs.iter().any(|port| port.alias == Some(index));
        // What is given away is taken out first, so that the rest can be lent.
        let given = entry.inputs.iter().enumerate().filter(|(index, _)| is_given(*index));
        let mut given: IndexMap<usize, Placed> =
            given.map(|(index, port)| Ok((index, self.take(&port.name)?))).collect::<Result<_>>()?;
        let inputs = entry.inputs.iter().enumerate().map(|(index, port)| match given.swap_remove(&index) {
            Some(placed) => Ok(Argument::Donate(placed)),
            None => match self.held.get(&port.name) {
                Some(placed) => Ok(Argument::Keep(held(&port.name, placed.as_ref())?)),
                None => match self.declared(&port.name, number).or_else(|| piece.get(&port.name)) {
                    Some(placed) => Ok(Argument::Keep(placed)),
                    None => Err(not_fed(&port.name)),
                },
            },
        });
        let outputs = module.call(inputs.collect::<Result<_>>()?)?;
        let mut rest = IndexMap::new();
        for (port, output) in entry.outputs.iter().zip(outputs) {
            match self.held.get_mut(&port.name) {
                Some(place) if port.role == PortRole::Buffer => *place = Some(output),
                _ => {
                    rest.insert(port.name.clone(), output);
                }
            }
        }
        Ok(rest)
    }

    /// Checks that all inputs of a module are there, before anything is donated.
    pub(super) fn check(&self, &Planned { module, number, piece }: &Planned<'_>) -> Result<()> {
        let entry = module.entry();
        let is_given = |index| entry.outputs.iter().any(|port| port.alias == Some(index));
        let mut inputs = module.inputs().enumerate();
        inputs.try_for_each(|(index, (port, placement))| match self.held.get(&port.name) {
            Some(placed) => held(&port.name, placed.as_ref()).map(|_| ()),
            None if is_given(index) => Err(lost(&port.name)),
            None if self.declared(&port.name, number).is_some() => Ok(()),
            None => check_fed(port, placement, piece),
        })
    }

    /// Resets the transient buffers, which pass between the calls of an update, where an earlier update did not complete. From here on
    /// this update is incomplete.
    pub(super) fn start_anew(
        &mut self,
        executor: &dyn Executor,
        manifest: &Manifest,
    ) -> std::result::Result<(), Diagnostics> {
        if std::mem::replace(&mut self.is_under_way, true) {
            let (ranks, transient) = (Ranks::of(executor, &manifest.mesh), transient_state(manifest)?);
            for buffer in &manifest.buffers {
                let Some(tensor) = transient.get(&buffer.name) else { continue };
                let (name, placed) = upload(executor, &ranks, buffer, tensor)?;
                self.held.insert(name, Some(placed));
            }
        }
        Ok(())
    }

    /// Marks the update as complete.
    pub(super) fn come_to_end(&mut self) {
        self.is_under_way = false;
    }

    /// The value of an input whose content the model declares, for the calls on a piece of the batch.
    fn declared(&self, name: &str, number: usize) -> Option<&Placed> {
        match &self.declared.get(name)?[..] {
            [one] => Some(one),
            each => each.get(number),
        }
    }

    fn take(&mut self, name: &str) -> Result<Placed> {
        self.held.get_mut(name).and_then(Option::take).ok_or_else(|| lost(name))
    }
}

/// Checks that a batch has what an input takes of it.
fn check_fed(port: &Port, placement: &Placement, piece: &Piece) -> Result<()> {
    let fed = piece.get(&port.name).ok_or_else(|| not_fed(&port.name))?;
    if fed.is(port.dtype, placement) {
        return Ok(());
    }
    let message = format!("`{}` of the batch is `{fed}`, which another step takes", port.name);
    Err(Diagnostic::error(codes::TENSORS, message).help(UPLOAD))
}

/// Copies a tensor to the devices with the placement of a buffer. The tensor may hold several such buffers, one after another.
fn upload(executor: &dyn Executor, ranks: &Ranks, buffer: &Buffer, tensor: &HostTensor) -> Result<(String, Placed)> {
    let placement = Placement::new(ranks, tensor.shape(), buffer.sharding.as_ref());
    Ok((buffer.name.clone(), placement.upload(executor, tensor)?))
}

fn not_given(name: &str) -> Diagnostic {
    Diagnostic::bug(format!("a state without what `{name}` stores"))
}

fn held<'a>(name: &str, placed: Option<&'a Placed>) -> Result<&'a Placed> {
    placed.ok_or_else(|| lost(name))
}

fn parted(name: &str, ranks: &[usize]) -> Diagnostic {
    let plural = if ranks.len() == 1 { "" } else { "s" };
    let ranks: Vec<_> = ranks.iter().map(ToString::to_string).collect();
    let message =
        format!("`{name}` should be the same on several ranks and differs on rank{plural} {}", ranks.join(", "));
    Diagnostic::error(codes::RUNTIME_EXECUTE, message)
        .note("each rank is compared with the first one that has the same part")
        .help("load the state again; if ranks part once more, the program lacks a collective, or devices compute differently")
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
