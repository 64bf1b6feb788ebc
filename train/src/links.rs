//! Values on their way between stages on devices of one process.

use crate::transport::{Carried, Transport};
use halite_runtime::{Buffer, Executor};
use halite_support::{Diagnostic, Result, codes};
use std::sync::mpsc::{Receiver, Sender, channel};

/// The values of a transfer on the devices of the stage that reads them.
struct Parcel {
    transfer: String,
    piece: Option<usize>,
    values: Vec<Vec<Buffer>>,
}

/// The ends of a stage: one to send to each other, and one to receive from each. Where a stage fails, its ends are gone, so that nobody
/// waits for it.
#[derive(Default)]
pub(super) struct Links {
    /// The ranks of a stage.
    ranks: usize,
    to: Vec<Sender<Parcel>>,
    from: Vec<Receiver<Parcel>>,
    /// Values that came before they were waited for.
    early: Vec<Parcel>,
}

impl Links {
    /// Those of so many stages of so many ranks.
    pub(super) fn between(stages: usize, ranks: usize) -> Vec<Self> {
        let mut links: Vec<Self> = (0..stages).map(|_| Self { ranks, ..Self::default() }).collect();
        for sender in 0..stages {
            for receiver in 0..stages {
                let (to, from) = channel();
                links[sender].to.push(to);
                links[receiver].from.push(from);
            }
        }
        links
    }
}

impl Transport for Links {
    fn send(
        &mut self,
        executor: &dyn Executor,
        Carried { transfer, piece }: Carried<'_>,
        values: &[&[Buffer]],
    ) -> Result<()> {
        let first = transfer.to * self.ranks;
        let copy = |(at, part): (usize, &Buffer)| Ok(executor.copy(part.as_ref(), first + at)?);
        let copies = values.iter().map(|parts| parts.iter().enumerate().map(copy).collect());
        let parcel = Parcel { transfer: transfer.name.clone(), piece, values: copies.collect::<Result<_>>()? };
        self.to.get(transfer.to).and_then(|to| to.send(parcel).ok()).ok_or_else(|| ended(transfer.to))
    }

    fn receive(&mut self, _: &dyn Executor, Carried { transfer, piece }: Carried<'_>) -> Result<Vec<Vec<Buffer>>> {
        let is_it = |parcel: &Parcel| parcel.transfer == transfer.name && parcel.piece == piece;
        if let Some(at) = self.early.iter().position(is_it) {
            return Ok(self.early.swap_remove(at).values);
        }
        loop {
            let from = self.from.get(transfer.from);
            let parcel = from.and_then(|from| from.recv().ok()).ok_or_else(|| ended(transfer.from))?;
            if is_it(&parcel) {
                return Ok(parcel.values);
            }
            self.early.push(parcel);
        }
    }
}

/// The error of a stage that waited for one that failed: not the failure itself.
fn ended(stage: usize) -> Diagnostic {
    Diagnostic::error(codes::RUNTIME_EXECUTE, format!("stage {stage} ended before the update did"))
        .help("load the state again")
}
