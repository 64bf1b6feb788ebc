//! Values on their way between stages that are processes.
//!
//! A rank has a connection to the same rank of each stage that it exchanges values with. What comes is read at once, whatever the rank
//! does, so that no sender waits for a receiver. Nothing that a peer says decides how much is read: the manifest says which values come
//! and what they are.

mod parcel;

use crate::metrics::Metrics;
use crate::peers::Peers;
use crate::transport::{Carried, Transport};
use halite_bundle::{Manifest, contradiction};
use halite_runtime::{Buffer, Executor};
use halite_support::{Diagnostic, Diagnostics, Result};
use halite_tensor::HostTensor;
use parcel::{Awaited, Key, Label, Parcel, Sender, awaited};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// The interval between two checks for an early end of the run.
const TICK: Duration = Duration::from_millis(50);

/// The time in which the end of a process is told after its connections have ended.
const TOLD: Duration = Duration::from_secs(10);

/// The connections of a rank to other stages.
#[derive(Debug)]
pub(super) struct Wires {
    peers: Peers,
    /// The stage of this rank, and the number of ranks of a stage.
    stage: usize,
    ranks: usize,
    wires: BTreeMap<usize, Wire>,
    /// Updates and evaluations that were begun.
    begun: u64,
    /// Whether the last one has not come to its end.
    is_under_way: bool,
}

/// The connection to one other stage.
#[derive(Debug)]
struct Wire {
    stream: TcpStream,
    heard: Receiver<Result<Parcel>>,
    /// Values that came before they were waited for.
    early: BTreeMap<Key, Vec<HostTensor>>,
}

impl Wires {
    /// Connects this process with those of other stages, which connect with it at the same time; `None` where there is one stage.
    ///
    /// # Errors
    /// When the manifest contradicts itself; as [`Peers::exchange`].
    pub(super) fn open(peers: &Peers, manifest: &Manifest) -> Result<Option<Self>> {
        let ranks = manifest.mesh.num_ranks();
        if manifest.num_stages() == 1 {
            return Ok(None);
        }
        if peers.world() != manifest.num_ranks() {
            let reason = format!("{} processes run a bundle of {} ranks", peers.world(), manifest.num_ranks());
            return Err(contradiction(&reason));
        }
        peers.in_stages_of(ranks);
        let (stage, rank) = (peers.rank() / ranks, peers.rank() % ranks);
        let own = manifest.transfers.iter().filter(|transfer| transfer.from == stage || transfer.to == stage);
        let others: BTreeSet<usize> = own.flat_map(|own| [own.from, own.to]).filter(|other| *other != stage).collect();
        let others: Vec<usize> = others.into_iter().map(|other| other * ranks + rank).collect();
        let mut awaited = awaited(manifest, stage)?;
        let mut wires = BTreeMap::new();
        for (other, stream) in peers.connect(&others)? {
            let from = other / ranks;
            let wire = Wire::new(stream, from, awaited.remove(&from).unwrap_or_default());
            wires.insert(from, wire.map_err(|error| peers.lose(format!("no wire to stage {from}: {error}"), true))?);
        }
        Ok(Some(Self { peers: peers.clone(), stage, ranks, wires, begun: 0, is_under_way: false }))
    }

    /// Begins an update or an evaluation.
    ///
    /// # Errors
    /// When the one before has not come to its end here: other stages have gone on without it.
    pub(super) fn begin(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.is_under_way, true) {
            let reason = format!("stage {} did not come to the end of an update", self.stage);
            return Err(self.peers.lose(reason, false).help("start all processes again"));
        }
        self.begun += 1;
        Ok(())
    }

    /// Ends an update or an evaluation: the metrics that the first rank of each stage gives, in the order of stages.
    ///
    /// # Errors
    /// When a stage has failed, or says what are no metrics; as [`Peers::exchange`].
    pub(super) fn end(&mut self, own: &Metrics) -> Result<Metrics> {
        let is_first = self.peers.rank().is_multiple_of(self.ranks);
        let said = if is_first { own.to_text()? } else { String::new() };
        let all = self.peers.exchange(&format!("the metrics of call {}", self.begun), &said)?;
        let mut metrics = Metrics::default();
        for (stage, said) in all.iter().step_by(self.ranks).enumerate() {
            let lose = || self.peers.lose(format!("stage {stage} says what are no metrics"), false);
            metrics.extend(Metrics::of_text(said).ok_or_else(lose)?);
        }
        self.is_under_way = false;
        Ok(metrics)
    }

    fn wire(&mut self, stage: usize) -> Result<&mut Wire> {
        self.wires.get_mut(&stage).ok_or_else(|| contradiction(&format!("there is no transfer with stage {stage}")))
    }

    /// The error of a stage whose connection has ended: why the run ended, where that is told.
    fn gone(&self, stage: usize) -> Diagnostic {
        let deadline = Instant::now() + TOLD;
        while Instant::now() < deadline {
            if let Some(error) = self.peers.ended() {
                return error;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.peers.lose(format!("stage {stage} ended before the update did"), true)
    }

    /// The values of a transfer on the host.
    fn hear(&mut self, Carried { transfer, piece }: Carried<'_>) -> Result<Vec<HostTensor>> {
        let (peers, from, key) = (self.peers.clone(), transfer.from, (transfer.name.clone(), piece));
        let deadline = Instant::now() + peers.patience();
        let wire = self.wire(from)?;
        if let Some(values) = wire.early.remove(&key) {
            return Ok(values);
        }
        loop {
            match wire.heard.recv_timeout(TICK) {
                Ok(Ok(parcel)) if parcel.key == key => return Ok(parcel.values),
                Ok(Ok(parcel)) => {
                    let name = parcel.key.0.clone();
                    if wire.early.insert(parcel.key, parcel.values).is_some() {
                        return Err(peers.lose(format!("stage {from} sends `{name}` twice"), false));
                    }
                }
                Ok(Err(error)) => return Err(peers.lose(error.message().to_owned(), false)),
                Err(RecvTimeoutError::Disconnected) => return Err(self.gone(from)),
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(error) = peers.ended() {
                        return Err(error);
                    }
                    if Instant::now() >= deadline {
                        return Err(peers.lose(format!("stage {from} did not send `{}`", transfer.name), true));
                    }
                }
            }
        }
    }
}

impl Transport for Wires {
    fn send(&mut self, _: &dyn Executor, Carried { transfer, piece }: Carried<'_>, values: &[&[Buffer]]) -> Result<()> {
        let host = values.iter().copied().flatten().map(|part| Ok(part.download()?)).collect::<Result<Vec<_>>>()?;
        let label = Label::new(&transfer.name, piece, &host).to_line()?;
        let peers = self.peers.clone();
        let wire = self.wire(transfer.to)?;
        let mut parts = std::iter::once(label.as_bytes()).chain(host.iter().map(HostTensor::bytes));
        match parts.try_for_each(|part| put(&mut wire.stream, part, &peers)) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.gone(transfer.to)),
        }
    }

    fn receive(&mut self, executor: &dyn Executor, what: Carried<'_>) -> Result<Vec<Vec<Buffer>>> {
        self.hear(what)?.iter().map(|tensor| Ok(vec![executor.upload(tensor, 0)?])).collect()
    }
}

impl Wire {
    /// The connection to a stage, from which these values may come. It is read from here on.
    fn new(stream: TcpStream, stage: usize, awaited: Awaited) -> io::Result<Self> {
        stream.set_write_timeout(Some(TICK))?;
        // Each once, of an update and of an evaluation; one more is no value that is awaited.
        let (say, heard) = sync_channel(awaited.len() + 1);
        let (reader, sender) = (stream.try_clone()?, Sender { stage, awaited });
        let listen = move || sender.listen(reader, &say);
        std::thread::Builder::new().name(format!("stage {stage}")).spawn(listen)?;
        Ok(Self { stream, heard, early: BTreeMap::new() })
    }
}

impl Drop for Wire {
    /// Ends the thread that reads, and tells the other end.
    fn drop(&mut self) {
        // One that is closed already is.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// Sends bytes, unless the run ends meanwhile.
fn put(stream: &mut TcpStream, mut bytes: &[u8], peers: &Peers) -> io::Result<()> {
    while !bytes.is_empty() {
        match stream.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                if peers.ended().is_some() {
                    return Err(error);
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The error of a bundle of several stages whose processes have not met.
pub(super) fn apart() -> Diagnostics {
    let message = "the stages of the bundle are processes, which have not met";
    Diagnostic::error(halite_support::codes::RUNTIME_EXECUTE, message)
        .help("give the step its peers by `TrainStep::with_peers`")
        .into()
}

#[cfg(test)]
mod tests;
