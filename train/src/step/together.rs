//! A training step whose ranks are processes: what they do together.

use super::TrainStep;
use crate::metrics::Metrics;
use crate::peers::Peers;
use crate::record::{KEY, Record};
use crate::wires::Wires;
use halite_bundle::Buffer;
use halite_bundle::parts::{self, PartsIndex};
use halite_disk::Disk;
use halite_support::{Diagnostic, Diagnostics};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

impl TrainStep {
    /// The same step as one of several processes, each of which has one rank of one stage. All of them call this, and from then on
    /// make the same updates and evaluations in the same order. Where there is one stage, it changes nothing: the devices of ranks find
    /// one another.
    ///
    /// # Errors
    /// When another process does not come, is gone, or failed ([`OTHER_RANK`](halite_support::codes::OTHER_RANK)).
    pub fn with_peers(self, peers: &Peers) -> Result<Self, Diagnostics> {
        let wires = match self.executor.rank() {
            Some(_) => Wires::open(peers, self.manifest())?,
            None => None,
        };
        Ok(Self { wires: wires.map(|wires| Arc::new(Mutex::new(wires))), ..self })
    }

    /// The way to stages in other processes, where there are any.
    pub(super) fn wires(&self) -> Option<MutexGuard<'_, Wires>> {
        self.wires.as_ref().map(|wires| wires.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The metrics of an update or an evaluation that all stages have made, of those that this process has.
    pub(super) fn metrics_of_all(&self, own: Metrics) -> halite_support::Result<Metrics> {
        self.wires().map_or(Ok(own.clone()), |mut wires| wires.end(&own))
    }

    /// Writes the part of a state that this rank writes: the shards that it is the first to hold. All ranks write their parts together.
    pub(crate) fn save_part(
        &self,
        disk: &Disk,
        place: &Path,
        index: &PartsIndex,
        rank: usize,
    ) -> Result<(), Diagnostics> {
        let part = self.held()?.download_part(self.manifest().saved(), &self.manifest().mesh, rank)?;
        parts::write_part(disk, place, index, rank, &part).map_err(Diagnostics::from)
    }

    /// The index of a state that all ranks write together, with a record of what made it.
    pub(crate) fn parts_index(&self, place: &Path, series: u64, record: &Record) -> Result<PartsIndex, Diagnostics> {
        let (manifest, held) = (self.manifest(), self.held()?);
        let holder = |buffer: &Buffer| {
            let unheld = || Diagnostic::bug(format!("no stage holds `{}`", buffer.name));
            Ok((buffer.clone(), held.first_holder(&buffer.name).ok_or_else(unheld)?))
        };
        let buffers = manifest.saved().map(holder).collect::<halite_support::Result<_>>()?;
        let stages = (manifest.num_stages(), &manifest.mesh);
        let mut index = PartsIndex::new(place, series, stages, buffers);
        index.texts.insert(KEY.to_owned(), record.to_text()?);
        Ok(index)
    }
}
