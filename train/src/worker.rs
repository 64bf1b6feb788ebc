//! Stages at work, each doing what is planned for it.

use crate::links::Links;
use crate::placed::Placed;
use crate::scheduled::Planned;
use crate::stage::Stage;
use crate::transport::{Carried, Transport};
use halite_runtime::Executor;
use halite_support::{Diagnostic, Result};
use indexmap::IndexMap;
use std::panic::resume_unwind;

/// The outputs that nobody else reads, by name, or the error of a call with the module; of a transfer, without one.
pub(super) type Outputs = std::result::Result<IndexMap<String, Placed>, (Diagnostic, String)>;

/// Does what is planned for each stage that runs here, all of them at a time, each in its order. `elsewhere` is the way to stages that
/// do not run here.
pub(super) fn run(
    executor: &dyn Executor,
    stages: &mut [Stage],
    plan: &[Vec<Planned<'_>>],
    elsewhere: Option<&mut dyn Transport>,
) -> Outputs {
    if let ([stage], [plan]) = (&mut *stages, plan) {
        let mut alone = Links::default();
        return Worker { executor, stage, transport: elsewhere.unwrap_or(&mut alone) }.run(plan);
    }
    let links = Links::between(stages.len(), stages.first().map_or(1, Stage::num_ranks));
    let all: Vec<Outputs> = std::thread::scope(|scope| {
        let all = stages.iter_mut().zip(plan).zip(links);
        let workers = all.map(|((stage, plan), mut links)| {
            scope.spawn(move || Worker { executor, stage, transport: &mut links }.run(plan))
        });
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
    transport: &'a mut dyn Transport,
}

impl Worker<'_> {
    fn run(mut self, plan: &[Planned<'_>]) -> Outputs {
        let mut outputs = IndexMap::new();
        for planned in plan {
            match *planned {
                Planned::Run(ref run) => {
                    let name = &run.module.entry().name;
                    let _span = tracing::debug_span!("execute", module = name).entered();
                    outputs.extend(self.stage.run(*run).map_err(|error| (error, name.clone()))?);
                }
                Planned::Send { transfer, piece } => {
                    self.send(Carried { transfer, piece }).map_err(|error| (error, String::new()))?;
                }
                Planned::Receive { transfer, piece } => {
                    self.receive(Carried { transfer, piece }).map_err(|error| (error, String::new()))?;
                }
            }
        }
        Ok(outputs)
    }

    fn send(&mut self, what: Carried<'_>) -> Result<()> {
        self.transport.send(self.executor, what, &self.stage.sent(what)?)?;
        self.stage.was_sent(what);
        Ok(())
    }

    fn receive(&mut self, what: Carried<'_>) -> Result<()> {
        let values = self.transport.receive(self.executor, what)?;
        self.stage.receive(what, values)
    }
}
