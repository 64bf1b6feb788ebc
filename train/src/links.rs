//! Stages that run beside one another, and the values on their way between them.

use crate::placed::Placed;
use crate::scheduled::Planned;
use crate::stage::Stage;
use halite_bundle::Transfer;
use halite_runtime::{Buffer, Executor};
use halite_support::{Diagnostic, Result, codes};
use indexmap::IndexMap;
use std::panic::resume_unwind;
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
struct Links {
    to: Vec<Sender<Parcel>>,
    from: Vec<Receiver<Parcel>>,
    /// What came before it was waited for.
    early: Vec<Parcel>,
}

impl Links {
    /// Those of so many stages.
    fn between(stages: usize) -> Vec<Self> {
        let mut links: Vec<Self> = (0..stages).map(|_| Self::default()).collect();
        for sender in 0..stages {
            for receiver in 0..stages {
                let (to, from) = channel();
                links[sender].to.push(to);
                links[receiver].from.push(from);
            }
        }
        links
    }

    fn send(&self, transfer: &Transfer, parcel: Parcel) -> Result<()> {
        self.to.get(transfer.to).and_then(|to| to.send(parcel).ok()).ok_or_else(|| ended(transfer.to))
    }

    /// Waits for the values of a transfer.
    fn receive(&mut self, transfer: &Transfer, piece: Option<usize>) -> Result<Vec<Vec<Buffer>>> {
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

/// What a stage has not been told for, because another failed: not the failure itself.
fn ended(stage: usize) -> Diagnostic {
    Diagnostic::error(codes::RUNTIME_EXECUTE, format!("stage {stage} ended before the update did"))
        .help("load the state again")
}

/// The outputs that nobody else reads, by name, or the error of a call with the module.
pub(super) type Outputs = std::result::Result<IndexMap<String, Placed>, (Diagnostic, String)>;

/// Does what is planned for each stage, all of them at a time, each in its order.
pub(super) fn run(executor: &dyn Executor, stages: &mut [Stage], plan: &[Vec<Planned<'_>>]) -> Outputs {
    if let ([stage], [plan]) = (&mut *stages, plan) {
        return Worker { executor, stage, links: Links::default() }.run(plan);
    }
    let links = Links::between(stages.len());
    let all: Vec<Outputs> = std::thread::scope(|scope| {
        let all = stages.iter_mut().zip(plan).zip(links);
        let workers =
            all.map(|((stage, plan), links)| scope.spawn(move || Worker { executor, stage, links }.run(plan)));
        let workers: Vec<_> = workers.collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    // The first to fail says why; those that waited for it say only that they did.
    let waited = |error: &(Diagnostic, String)| error.1.is_empty();
    let mut outputs = IndexMap::new();
    let mut failures = Vec::new();
    for result in all {
        match result {
            Ok(own) => outputs.extend(own),
            Err(failure) => failures.push(failure),
        }
    }
    failures.sort_by_key(waited);
    failures.into_iter().next().map_or(Ok(outputs), Err)
}

/// A stage at work.
struct Worker<'a> {
    executor: &'a dyn Executor,
    stage: &'a mut Stage,
    links: Links,
}

impl Worker<'_> {
    fn run(mut self, plan: &[Planned<'_>]) -> Outputs {
        let mut outputs = IndexMap::new();
        for planned in plan {
            match planned {
                Planned::Run(run) => {
                    let name = &run.module.entry().name;
                    let _span = tracing::debug_span!("execute", module = name).entered();
                    outputs.extend(self.stage.run(*run).map_err(|error| (error, name.clone()))?);
                }
                Planned::Send { transfer, piece } => {
                    self.send(transfer, *piece).map_err(|error| (error, String::new()))?;
                }
                Planned::Receive { transfer, piece } => {
                    self.receive(transfer, *piece).map_err(|error| (error, String::new()))?;
                }
            }
        }
        Ok(outputs)
    }

    fn send(&mut self, transfer: &Transfer, piece: Option<usize>) -> Result<()> {
        let values = self.stage.send(self.executor, (transfer, piece))?;
        self.links.send(transfer, Parcel { transfer: transfer.name.clone(), piece, values })
    }

    fn receive(&mut self, transfer: &Transfer, piece: Option<usize>) -> Result<()> {
        let values = self.links.receive(transfer, piece)?;
        self.stage.receive((transfer, piece), values)
    }
}
