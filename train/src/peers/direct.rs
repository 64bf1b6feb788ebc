//! Connections between two processes of a run, beside those to the leader. They are made as the run itself met: one of the two opens a
//! door, and admits those that know its secret.

use super::Peers;
use super::join::{follow, welcome};
use super::options::PeerOptions;
use halite_support::{Diagnostic, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::PoisonError;
use std::time::Instant;

/// The door of a process, as it tells the others.
#[derive(Serialize, Deserialize)]
struct Doorplate {
    address: String,
    /// The ranks that come there, in order.
    awaits: Vec<usize>,
}

impl Peers {
    /// Connects this process with each of these ranks, which connect with it at the same time; each process names its own, or none.
    /// Returns the streams by rank.
    ///
    /// # Errors
    /// When one does not come in time, or does not await this one; as [`exchange`](Self::exchange).
    pub(crate) fn connect(&self, others: &[usize]) -> Result<BTreeMap<usize, TcpStream>> {
        let own = self.rank();
        let awaits: Vec<usize> = others.iter().copied().filter(|other| *other > own).collect();
        let failed = |error: &dyn std::fmt::Display| {
            self.ended()
                .unwrap_or_else(|| self.lose(format!("rank {own} does not meet others directly: {error}"), true))
        };
        let listener = if awaits.is_empty() { None } else { Some(self.open().map_err(|error| failed(&error))?) };
        let address = listener.as_ref().map(TcpListener::local_addr).transpose().map_err(|error| failed(&error))?;
        let address = address.map_or_else(String::new, |address| address.to_string());
        let plate = Doorplate { address, awaits: awaits.clone() };
        let said = serde_json::to_string(&plate).map_err(|error| Diagnostic::bug(error.to_string()))?;
        let plates = self.exchange("the doors", &said)?;
        let mut streams = BTreeMap::new();
        // Each goes to the doors of lower ranks first, and in order: so the lowest door that is still open gets all whom it awaits.
        let mut earlier: Vec<usize> = others.iter().copied().filter(|other| *other < own).collect();
        earlier.sort_unstable();
        for other in earlier {
            let options = plates.get(other).and_then(|plate| self.at_door(other, plate));
            let options = options.ok_or_else(|| self.lose(format!("rank {other} does not await rank {own}"), false))?;
            let stream = follow(&options, Instant::now() + self.patience(), &self.give_up());
            streams.insert(other, stream.map_err(|error| failed(&error.message()))?);
        }
        if let Some(listener) = listener {
            let options = self.door(own, (0, awaits.len()), String::new());
            let met = welcome(&options, listener, Instant::now() + self.patience(), &self.give_up());
            streams.extend(awaits.into_iter().zip(met.map_err(|error| failed(&error.message()))?.streams));
        }
        for stream in streams.values() {
            stream.set_read_timeout(None).map_err(|error| failed(&error))?;
        }
        Ok(streams)
    }

    /// A free port, on the side of this process from which it sees the first one.
    fn open(&self) -> std::io::Result<TcpListener> {
        let stream = self.0.streams.first().ok_or(std::io::ErrorKind::NotConnected)?;
        let here = stream.lock().unwrap_or_else(PoisonError::into_inner).local_addr()?;
        TcpListener::bind(SocketAddr::new(here.ip(), 0))
    }

    /// How this process comes to the door of another, which awaits it.
    fn at_door(&self, other: usize, plate: &str) -> Option<PeerOptions> {
        let Doorplate { address, awaits } = serde_json::from_str(plate).ok()?;
        let place = awaits.iter().position(|rank| *rank == self.rank())?;
        Some(self.door(other, (place + 1, awaits.len()), address))
    }

    /// The meeting at the door of a rank, for the process of this place among so many that come.
    fn door(&self, rank: usize, (place, others): (usize, usize), address: String) -> PeerOptions {
        let secret = format!("{}\0the door of rank {rank}", self.0.secret);
        PeerOptions { rank: place, world: others + 1, address, patience: self.patience(), secret }
    }
}
