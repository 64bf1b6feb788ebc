//! One stage on its devices: its state, and the values that its modules hand on.

use crate::batch::Piece;
use crate::execute::LoadedModule;
use crate::holdings::{Holdings, not_fed, upload};
use crate::placed::{Argument, Placed, Placement, Ranks};
use crate::transport::Carried;
use halite_bundle::content::declared;
use halite_bundle::{Action, Buffer, Manifest, Port, PortRole};
use halite_runtime::{Buffer as DeviceBuffer, Executor};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{Content, HostTensor};
use indexmap::IndexMap;
use std::collections::HashSet;

/// A call of a module.
#[derive(Clone, Copy)]
pub(super) struct Run<'m> {
    pub(super) module: &'m LoadedModule,
    /// The number of the piece of the batch that it is for, where it is for one.
    pub(super) number: Option<usize>,
    pub(super) piece: &'m Piece,
}

/// A value on its way from the module that made it, or the stage that sent it, to those that read it.
#[derive(Debug)]
struct Passed {
    placed: Placed,
    /// The readers that are still to come.
    readers: usize,
}

/// A value by name, and the piece of the batch that it is made of, where it is made of one.
type Key = (String, Option<usize>);

/// A stage with all that it holds on its devices.
#[derive(Debug)]
pub(super) struct Stage {
    ranks: Ranks,
    /// Every buffer of its state, by name, in the order of the manifest.
    held: IndexMap<String, Option<Placed>>,
    /// The inputs whose content the model declares, each with its value for the calls on each piece of the batch, or with one for all.
    declared: IndexMap<String, Vec<Placed>>,
    /// The number of its modules and transfers that read each value.
    readers: IndexMap<String, usize>,
    values: IndexMap<Key, Passed>,
}

impl Stage {
    /// A stage with no state yet, and the inputs that the model declares.
    pub(super) fn new(
        executor: &dyn Executor,
        manifest: &Manifest,
        (stage, holdings): (usize, &Holdings),
    ) -> Result<Self> {
        let ranks = Ranks::of(executor, &manifest.mesh, stage);
        let pieces = manifest.calls().into_values().max().unwrap_or(1);
        let mut known: IndexMap<String, Vec<Placed>> = IndexMap::new();
        for buffer in manifest.buffers.iter().filter(|buffer| holdings.has(stage, &buffer.name)) {
            let pieces = if buffer.content() == Some(&Content::MicroBatch) { pieces } else { 1 };
            for tensor in (0..pieces).filter_map(|piece| declared(buffer, piece)) {
                known.entry(buffer.name.clone()).or_default().push(upload(executor, &ranks, buffer, &tensor)?);
            }
        }
        let readers = readers(manifest, stage);
        Ok(Self { ranks, held: IndexMap::new(), declared: known, readers, values: IndexMap::new() })
    }

    /// The ranks of the mesh of a stage.
    pub(super) fn num_ranks(&self) -> usize {
        self.ranks.num_ranks()
    }

    /// The state of this name; `None` where the stage holds none of it.
    pub(super) fn state(&self, name: &str) -> Option<Result<&Placed>> {
        self.held.get(name).map(|placed| held(name, placed.as_ref()))
    }

    /// Copies a tensor to its devices, as state.
    pub(super) fn hold(&mut self, executor: &dyn Executor, buffer: &Buffer, tensor: &HostTensor) -> Result<()> {
        let placed = upload(executor, &self.ranks, buffer, tensor)?;
        self.held.insert(buffer.name.clone(), Some(placed));
        Ok(())
    }

    /// Drops the values that an update which did not complete has left.
    pub(super) fn clear(&mut self) {
        self.values.clear();
    }

    /// Runs a module on this state and a batch, once [`check`](Self::check) has checked them. Buffers that the module replaces are
    /// donated and put back, and what other modules read is kept for them; the other outputs are returned by name.
    pub(super) fn run(&mut self, Run { module, number, piece }: Run<'_>) -> Result<IndexMap<String, Placed>> {
        let entry = module.entry();
        let is_given = |index| entry.outputs.iter().any(|port| port.alias == Some(index));
        // What is given away is taken out first, so that the rest can be lent.
        let given = entry.inputs.iter().enumerate().filter(|(index, _)| is_given(*index));
        let mut given: IndexMap<usize, Placed> =
            given.map(|(index, port)| Ok((index, self.take(&port.name)?))).collect::<Result<_>>()?;
        let inputs = entry.inputs.iter().enumerate().map(|(index, port)| match given.swap_remove(&index) {
            Some(placed) => Ok(Argument::Donate(placed)),
            None => Ok(Argument::Keep(self.input(port, number, piece)?)),
        });
        let outputs = module.call(inputs.collect::<Result<_>>()?)?;
        for port in entry.inputs.iter().filter(|port| port.role == PortRole::Value) {
            self.is_read((port.name.clone(), number));
        }
        let mut rest = IndexMap::new();
        for (port, output) in entry.outputs.iter().zip(outputs) {
            match port.role {
                PortRole::Value => self.pass((port.name.clone(), number), output),
                PortRole::Buffer if self.held.contains_key(&port.name) => {
                    self.held.insert(port.name.clone(), Some(output));
                }
                _ => _ = rest.insert(port.name.clone(), output),
            }
        }
        Ok(rest)
    }

    fn input<'a>(&'a self, port: &Port, number: Option<usize>, piece: &'a Piece) -> Result<&'a Placed> {
        if port.role == PortRole::Value {
            let passed = self.values.get(&(port.name.clone(), number));
            return passed.map(|passed| &passed.placed).ok_or_else(|| not_made(&port.name));
        }
        match self.held.get(&port.name) {
            Some(placed) => held(&port.name, placed.as_ref()),
            None => {
                let fed = self.declared(&port.name, number).or_else(|| piece.get(&port.name));
                fed.ok_or_else(|| not_fed(&port.name))
            }
        }
    }

    /// Checks that all inputs of a module are there but for what other modules make, before anything is donated.
    pub(super) fn check(&self, &Run { module, number, piece }: &Run<'_>) -> Result<()> {
        let entry = module.entry();
        let is_given = |index| entry.outputs.iter().any(|port| port.alias == Some(index));
        let mut inputs = module.inputs().enumerate().filter(|(_, (port, _))| port.role != PortRole::Value);
        inputs.try_for_each(|(index, (port, placement))| match self.held.get(&port.name) {
            Some(placed) => held(&port.name, placed.as_ref()).map(|_| ()),
            None if is_given(index) => Err(lost(&port.name)),
            None if self.declared(&port.name, number).is_some() => Ok(()),
            None => check_fed(port, placement, piece),
        })
    }

    /// The values of a transfer: of each the part of each rank that runs here.
    pub(super) fn sent(&self, Carried { transfer, piece }: Carried<'_>) -> Result<Vec<&[DeviceBuffer]>> {
        let value = |name: &String| match self.values.get(&(name.clone(), piece)) {
            Some(passed) => Ok(passed.placed.parts()),
            None => {
                let own = self.held.get(name).ok_or_else(|| not_made(name))?;
                Ok(held(name, own.as_ref())?.parts())
            }
        };
        transfer.values.iter().map(value).collect()
    }

    /// Drops the values of a transfer that was sent, where nobody else reads them.
    pub(super) fn was_sent(&mut self, Carried { transfer, piece }: Carried<'_>) {
        transfer.values.iter().for_each(|name| self.is_read((name.clone(), piece)));
    }

    /// Takes the values of a transfer, which are on its devices: state in the place of what it holds, others for its modules.
    pub(super) fn receive(
        &mut self,
        Carried { transfer, piece }: Carried<'_>,
        values: Vec<Vec<DeviceBuffer>>,
    ) -> Result<()> {
        for (name, parts) in transfer.values.iter().zip(values) {
            match self.held.get_mut(name) {
                Some(own) => {
                    let placement = held(name, own.as_ref())?.placement().clone();
                    *own = Some(placement.hold(parts)?);
                }
                None => {
                    let shape = parts.first().map(|part| part.spec().shape.clone()).unwrap_or_default();
                    let placed = Placement::new(&self.ranks, &shape, None).hold(parts)?;
                    self.pass((name.clone(), piece), placed);
                }
            }
        }
        Ok(())
    }

    /// Keeps a value for those that read it.
    fn pass(&mut self, key: Key, placed: Placed) {
        let readers = self.readers.get(&key.0).copied().unwrap_or(0);
        if readers > 0 {
            self.values.insert(key, Passed { placed, readers });
        }
    }

    /// Drops a value that its last reader has read.
    fn is_read(&mut self, key: Key) {
        if let Some(passed) = self.values.get_mut(&key) {
            passed.readers = passed.readers.saturating_sub(1);
            if passed.readers == 0 {
                self.values.swap_remove(&key);
            }
        }
    }

    /// The value of an input whose content the model declares, for the calls on a piece of the batch.
    fn declared(&self, name: &str, number: Option<usize>) -> Option<&Placed> {
        match &self.declared.get(name)?[..] {
            [one] => Some(one),
            each => each.get(number?),
        }
    }

    fn take(&mut self, name: &str) -> Result<Placed> {
        self.held.get_mut(name).and_then(Option::take).ok_or_else(|| lost(name))
    }
}

/// The number of modules and transfers of a stage that read each value.
fn readers(manifest: &Manifest, stage: usize) -> IndexMap<String, usize> {
    let own = manifest.modules.iter().filter(|module| module.stage == stage).flat_map(|module| &module.inputs);
    let read = own.filter(|port| port.role == PortRole::Value).map(|port| &port.name);
    let sent: HashSet<&String> = manifest.lists().flatten().flatten().filter_map(sent).collect();
    let transfers = manifest.transfers.iter().filter(|own| own.from == stage && sent.contains(&own.name));
    let mut readers = IndexMap::new();
    for name in read.chain(transfers.flat_map(|transfer| &transfer.values)) {
        *readers.entry(name.clone()).or_default() += 1;
    }
    readers
}

fn sent(action: &Action) -> Option<&String> {
    if let Action::Send { transfer, .. } = action { Some(transfer) } else { None }
}

/// Checks that a batch has what an input takes of it.
fn check_fed(port: &Port, placement: &Placement, piece: &Piece) -> Result<()> {
    let fed = piece.get(&port.name).ok_or_else(|| not_fed(&port.name))?;
    if fed.is(port.dtype, placement) {
        return Ok(());
    }
    let message = format!("`{}` of the batch is `{fed}`, which another step takes", port.name);
    Err(Diagnostic::error(codes::TENSORS, message).help(crate::batch::UPLOAD))
}

fn held<'a>(name: &str, placed: Option<&'a Placed>) -> Result<&'a Placed> {
    placed.ok_or_else(|| lost(name))
}

fn lost(name: &str) -> Diagnostic {
    let message =
        format!("`{name}` is no longer part of the state: a step failed, or gave it away without replacing it");
    Diagnostic::error(codes::TENSORS, message).help("load the state again")
}

fn not_made(name: &str) -> Diagnostic {
    Diagnostic::error(codes::BUNDLE, format!("`{name}` is read before it is made or received"))
        .note("the schedule of the bundle says when")
        .help("compile the bundle again")
}
